"""Finding codes for the fields of jobs, sweeps and searches."""

from __future__ import annotations

from gen.base.codes import Code

UNKNOWN_FIELD = Code(
    "unknown-field",
    "A job or overlay sets a field that does not exist.",
    "A misspelled field would have no effect.",
    "Correct the name; the finding suggests the closest one.",
)
RENAMED_FIELD = Code(
    "renamed-field",
    "A job or overlay sets a field by an older name.",
    "The name still works, for a year after the version that renamed the field; later it is an unknown field.",
    "Write the new name; `gen check --fix` does. No run starts again.",
)
MISSING_FIELD = Code(
    "missing-field",
    "A required field is set neither in the job nor in the overlay's `defaults`.",
    "The field has no default.",
    "Add the field.",
)
NO_VALUE = Code(
    "no-value",
    "A field has no value.",
    "`field:` is null in YAML, which looks the same as a forgotten value.",
    'Set a value, write "" for an empty string, or delete the line.',
)
INVALID_VALUE = Code(
    "invalid-value",
    "A value has the wrong type or format, or is out of range.",
    "It cannot be rendered, or the API server would reject it.",
    "Follow the finding; the reference describes the values of each field.",
)
NO_EFFECT = Code(
    "no-effect",
    "A field is set where it has no effect, such as the image of a role without pods.",
    "The rendered files would be the same without it, so its author probably expects something else.",
    "Remove the field, or change the other field that the finding names.",
)
OVERRIDDEN_DEFAULT = Code(
    "overridden-default",
    "A job replaces the value of an environment variable that its network sets.",
    "With another value, NCCL may use a slower network, or wait forever.",
    "Remove the variable, unless the training needs another value.",
)
UNKNOWN_KIND = Code(
    "unknown-kind",
    "`kind` is not one of the supported kinds of jobs.",
    "gen cannot render the job.",
    "Use one of the kinds in the finding.",
)
CUT_VALUE = Code(
    "cut-value",
    "A value without quotes is followed by a `#` that seems to belong to it.",
    "In YAML, a space and `#` start a comment, so the rest of the line is not part of the value.",
    "Quote the value, or write a space after `#` if it is a comment.",
)
JOINED_LINES = Code(
    "joined-lines",
    "A `command` of several lines is one line for the shell: it has a backslash at the end of a line, or several "
    "commands, but is not written below `|`.",
    "YAML joins the lines of a value without quotes, and those below `>`, with spaces.",
    "Write the command below `|`, which keeps its lines.",
)
SHELL_SYNTAX = Code(
    "shell-syntax",
    "An entry of a `command` list, or an environment variable, has the syntax of a shell, which no shell reads.",
    "The program gets the text as it is: `&&` as an argument, and `${NAME}` instead of the value.",
    "Write the command as a text, which a shell reads, or `$(NAME)` for a variable of the container.",
)
NO_CREDENTIALS = Code(
    "no-credentials",
    "`code` fetches from a repository through ssh without `credentials`.",
    "Without a key, git-sync fails, and the container never starts: ssh has no anonymous access.",
    "Name a Secret with the keys `ssh` and `known_hosts` in `credentials`, or use the https URL of the repository.",
)
NO_PODS = Code(
    "no-pods", "No role of a job has any pods.", "Nothing would run.", "Increase `workers` or the replicas of a role."
)
INVALID_EXPRESSION = Code(
    "invalid-expression",
    "`{{ … }}` contains something other than a known name and filters.",
    "Expressions cannot compute, so that a job file is never a program.",
    "Use the names in the finding; write a literal `{{` as `{{ '{{' }}`.",
)
INVALID_ENV = Code(
    "invalid-env",
    "An environment variable has neither a value nor a valid reference to one.",
    "It would be empty in the pod.",
    "Set a string, or a reference with `secret`, `configMap`, `field` or `resource`.",
)
RESERVED_ENV = Code(
    "reserved-env",
    "A job sets an environment variable that the operator or gen sets.",
    "The operator adds its own value, and which of the two applies is not visible; some of these variables request "
    "GPUs outside the quota.",
    "Remove it; it is derived from other fields of the job.",
)
RESERVED_METADATA = Code(
    "reserved-metadata",
    "A job sets a label or annotation that gen, an operator or a GitOps engine uses.",
    "The run would be handed to another operator, queue or engine, or to none.",
    "Remove it; use the field for this purpose, or ask the owners of the overlay.",
)
INVALID_LABEL = Code(
    "invalid-label",
    "The key or value of a label or annotation is not valid in Kubernetes.",
    "The API server rejects the object.",
    "Use at most 63 letters, digits, `-`, `_` and `.`; a key may have a DNS name and `/` as a prefix.",
)
POD_METADATA = Code(
    "pod-metadata",
    "`labels` or `annotations` contain a key that only affects pods.",
    "They are set on the objects of the job, but not on its pods, so the key would have no effect.",
    "Move it to `podLabels` or `podAnnotations`.",
)
NAME_TOO_LONG = Code(
    "name-too-long",
    "A name is too long for the suffixes that gen, the operator and the pods add.",
    "The API server or the operator rejects the resulting object after the merge.",
    "Shorten the name to the length in the finding.",
)
DUPLICATE_JOB = Code(
    "duplicate-job",
    "Two jobs in a namespace of an overlay have the same name.",
    "The second one would overwrite the files of the first one.",
    "Rename one job.",
)
DUPLICATE_OBJECT = Code(
    "duplicate-object",
    "Two files of a cluster define the same object.",
    "Each sync would replace one with the other, and the overlay that stops rendering it would remove it for both.",
    "Rename one object, or remove one of the files. Overlays with the same `cluster` must not share jobs and volumes.",
)
SHARED_MEMORY = Code(
    "shared-memory",
    "`sharedMemory` or a volume in memory can use all memory of the container.",
    "Its files count towards the memory limit of the container, which is killed when it exceeds the limit.",
    "Increase `memory`, or decrease `sharedMemory`.",
)
MOUNT_CONFLICT = Code(
    "mount-conflict",
    "Two volumes, files or directories are mounted at the same path.",
    "The API server rejects the pod, or one mount hides the other.",
    "Change one of the paths.",
)
NO_NODE = Code(
    "no-node",
    "Requests of a job contradict each other: no nodes can run all of its pods.",
    "The pods would wait for nodes until the job reaches its `timeout`, or forever.",
    "Use volumes of one place, or remove the rule that keeps the pods apart.",
)
ONE_NODE_CLAIM = Code(
    "one-node-claim",
    "Several pods of a job use a volume that only one node can mount.",
    "Pods on other nodes never start, such as workers or a TensorBoard (kubeflow/kubeflow#5039).",
    "Use a volume with `ReadWriteMany`, or name one node for all pods, such as in `placement.nodeSelector`.",
)
NO_LOGDIR = Code(
    "no-logdir",
    "The log directory of a TensorBoard is not on a persistent volume of the job.",
    "TensorBoard runs in another pod and would find no event files.",
    "Write the logs to a mounted volume, and set `tensorboard.logdir` to their directory.",
)
NO_INGRESS = Code(
    "no-ingress",
    "A job uses `tensorboard.ingress`, but the overlay does not define an ingress.",
    "TensorBoard would have no host name.",
    "Remove `ingress`, or ask the owners to set `tensorboard.ingress` in the overlay.",
)
NO_RSYNC = Code(
    "no-rsync",
    "A job uses `code.rsync`, but the overlay does not define it.",
    "gen would have no image for copying the code.",
    "Use `code.git`, or ask the owners of the overlay.",
)
NO_CHECKPOINTS = Code(
    "no-checkpoints",
    "The directory in `checkpoints` cannot keep the checkpoints of runs.",
    "It must be on a volume that outlives pods and to which runs can write, and an earlier run must have the same one.",
    "Write a directory below a path of `data`; each run gets a folder with its name there.",
)
SUSPENDED_IN_QUEUE = Code(
    "suspended-in-queue",
    "A job has a `queue` and `state: suspended`.",
    "Kueue decides when a queued run starts, and would resume it.",
    "Remove `state`, remove `queue`, or use `state: finished`.",
)
SECRET_VALUE = Code(
    "secret-value",
    "An input contains a string in the format of a known token, or a literal value under the name of a secret.",
    "Everyone who can read the repository or its history can read the secret.",
    "Move it to a Secret and write `{secret: <name>, key: <entry>}`; revoke it if it was ever pushed.",
)
INVALID_IMAGE = Code(
    "invalid-image",
    "A rule in the overlay's `images` rewrites an image to an invalid reference.",
    "Nodes could not pull the image.",
    "Correct the rule in the overlay.",
)
NOT_SELECTED = Code(
    "not-selected",
    "No overlay selects the job.",
    "The job is not rendered anywhere.",
    "Add it to `select` in an overlay, or remove it.",
)
UNKNOWN_CLUSTER = Code(
    "unknown-cluster",
    "`clusters` of a job names no overlay, neither by its name nor by its cluster or a label. It is a warning for a "
    "finished or stopped job.",
    "The job would not be rendered where its author expects. A record can be one of a cluster that was retired.",
    "Correct the name, add the label to an overlay, or remove the job with the retired cluster.",
)
CANNOT_EDIT = Code(
    "cannot-edit",
    "`gen set` cannot change the field in this file.",
    "It edits a file only if comments and layout are preserved.",
    "Edit the file by hand.",
)

INVALID_SWEEP = Code(
    "invalid-sweep",
    "A sweep has a combination twice, an entry that matches no combination, or runs that do not differ.",
    "Each combination is one run, and its values identify it.",
    "Correct the entry; the finding names the combination.",
)
SWEEP_TOO_LARGE = Code(
    "sweep-too-large",
    "A sweep has more runs than its `max`, or than `sweepRuns` of its namespace.",
    "The lists of a matrix are multiplied, and each combination requests its own GPUs.",
    "Remove values, exclude combinations, or raise the limit.",
)
SHARED_OUTPUT = Code(
    "shared-output",
    "The runs of a sweep or the trials of a search can write to the same directory of a volume, and nothing in the job "
    "contains `{{ run.id }}`.",
    "They run at the same time, so they would overwrite each other's files.",
    "Use `{{ run.id }}` in a path, or mount the volume read-only.",
)

INVALID_SCHEDULE = Code(
    "invalid-schedule",
    "The times of a `schedule` are not valid, never come, or are in an unknown time zone.",
    "The API server rejects the object, or no run ever starts.",
    "Correct the field; the finding names it.",
)
INVALID_SEARCH = Code(
    "invalid-search",
    "Katib cannot run a search, or could not read its metric: an unknown algorithm or setting, a space that does not "
    "fit the algorithm, a parameter that no trial uses, or a kind that cannot be a trial.",
    "Katib rejects the Experiment, or creates it and lets it fail.",
    "Correct the field; the finding names the accepted values.",
)
