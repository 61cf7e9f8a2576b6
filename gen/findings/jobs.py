"""Findings about what a job says, and about what its overlay lets it have."""

from __future__ import annotations

from typing import Final

from gen.findings.code import Code

_GRANTED = "What a namespace may use is said by the owners of the overlay, and not by its jobs."
_NOT_THERE = "The job would wait for something that the cluster does not have."

JOBS: Final = (
    Code(
        "unknown-field",
        "Fields are those of the reference of jobs or overlays.",
        "A misspelt field would do nothing.",
        "Correct the name; the finding names the nearest one.",
    ),
    Code(
        "missing-field",
        "Fields that are required are there, in the job or in the overlay's `defaults`.",
        "There is nothing sensible to assume.",
        "Add the field.",
    ),
    Code(
        "no-value",
        "A field that is written has a value.",
        "`field:` is null, and it cannot be told from a value that was forgotten.",
        'Give it one, write "" for an empty text, or delete the line.',
    ),
    Code(
        "invalid-value",
        "A value is of the type, the form and the range that its field takes.",
        "It could not be rendered, or a cluster would refuse it.",
        "Write what the finding says; the reference lists the forms.",
    ),
    Code("unknown-kind", "`kind` is one of gen's kinds of job.", "Nothing can be rendered.", "Choose one of the list."),
    Code(
        "no-pods",
        "At least one role of a job has pods.",
        "Nothing would run.",
        "Raise `workers`, or the number of a role.",
    ),
    Code(
        "invalid-expression",
        "`{{ … }}` holds the name of a value and filters, and nothing else.",
        "No expression computes, so that no job file is a program.",
        "Use the names that the finding lists; a literal `{{` is written `{{ '{{' }}`.",
    ),
    Code(
        "invalid-env",
        "A variable has a value, or says where its value comes from.",
        "It would be empty in the pod.",
        "Write a text, or one of the forms with `secret`, `configMap`, `field` or `resource`.",
    ),
    Code(
        "reserved-env",
        "Variables that the operator or gen sets are not set by a job.",
        "The operator appends its own, so that one of the two would win unseen; some of them ask for GPUs that nobody "
        "counts.",
        "Leave it out; it follows from other fields of the job.",
    ),
    Code(
        "reserved-metadata",
        "A job sets no label and no annotation that gen, the operators or the engines use.",
        "It would take the run out of the hands of its operator, queue or engine, or into those of another.",
        "Remove it; what it is meant for has a field, or is the overlay's to say.",
    ),
    Code(
        "invalid-label",
        "Keys and values of labels and annotations have Kubernetes' form.",
        "A cluster refuses the object.",
        "Write at most 63 letters, digits, `-`, `_` and `.`; a key may have a DNS name and `/` in front.",
    ),
    Code(
        "name-too-long",
        "A name leaves room for what gen, the operator and the pods append.",
        "A cluster or an operator refuses the object that is made of it, after the merge.",
        "Shorten the name to what the finding says.",
    ),
    Code(
        "duplicate-job",
        "A namespace of an overlay has one job of a name.",
        "The second would overwrite the files of the first.",
        "Give one of them another name.",
    ),
    Code(
        "duplicate-object",
        "No two files stand for one object.",
        "They would take it from each other at every sync.",
        "Rename one of the two, or remove one of the files.",
    ),
    Code(
        "shared-memory",
        "`sharedMemory` leaves memory to the processes.",
        "It counts as memory of the pod, which is killed when it is full.",
        "Raise `memory`, or lower `sharedMemory`.",
    ),
    Code(
        "mount-conflict",
        "No two volumes, files or directories are mounted in one place.",
        "A cluster refuses the pod, or one hides the other.",
        "Give one of them another path.",
    ),
    Code(
        "no-logdir",
        "A TensorBoard reads event files from a volume of the job that lasts.",
        "It would show nothing: another pod cannot read them.",
        "Write the logs to a mounted volume, and name the directory in `tensorboard.logdir`.",
    ),
    Code(
        "no-ingress",
        "`tensorboard.ingress` needs an overlay that offers one.",
        "There is no host to reach it by.",
        "Remove `ingress`, or ask the owners for `tensorboard.ingress` in the overlay.",
    ),
    Code(
        "no-rsync",
        "`code.rsync` needs an overlay that offers it.",
        "There is no image to copy with.",
        "Use `code.git`, or ask the owners of the overlay.",
    ),
    Code(
        "suspended-in-queue",
        "A job with a `queue` is not `suspended`.",
        "Kueue decides when a run with a queue starts, and would resume it.",
        "Remove `state`, take the job out of the queue, or use `state: finished`.",
    ),
    Code(
        "secret-value",
        "No input holds a secret: no text has the form of a known token, and no value stands behind such a name.",
        "Who can read the repository, or once could, has it.",
        "Put it into a Secret and write `{secret: <name>, key: <entry>}`; revoke it if it was ever pushed.",
    ),
    Code(
        "unknown-namespace",
        "The folder of a job is a namespace that the overlay grants.",
        _GRANTED,
        "Add it to `namespaces` of the overlay, move the file, or exclude it in `select`.",
    ),
    Code("unknown-volume", "Volumes are those of the overlay.", _NOT_THERE, "Correct the name, or declare the volume."),
    Code("unknown-network", "`network` is one of the overlay.", _NOT_THERE, "Correct the name, or declare it."),
    Code("unknown-queue", "`queue` is one of the namespace's in the overlay.", _GRANTED, "Correct the name."),
    Code("unknown-priority", "`priority` is one of the namespace's in the overlay.", _GRANTED, "Correct the name."),
    Code("unknown-service-account", "`serviceAccount` is one of the namespace's.", _GRANTED, "Correct the name."),
    Code(
        "not-granted",
        "What a job asks for is granted to its namespace: volumes, networks, hosts of images, metadata, the host.",
        _GRANTED,
        "Use what is granted, or ask the owners of the overlay for more in `namespaces`.",
    ),
    Code(
        "over-quota",
        "The active jobs of a namespace ask for no more GPUs than it is granted.",
        "Some would wait for ever for the others.",
        "Set some to `state: suspended` or `finished`, or raise `gpus` in the overlay.",
    ),
    Code(
        "invalid-image",
        "What the overlay's `images` make of an image is an image.",
        "No node could pull it.",
        "Correct the rule of the overlay.",
    ),
    Code(
        "not-selected",
        "An overlay selects the job.",
        "It is rendered nowhere.",
        "Add it to `select` of an overlay, or remove it.",
    ),
    Code(
        "cannot-edit",
        "`gen set` can change the line that it was asked to change.",
        "It edits a file only where comments and layout stay as they are.",
        "Edit the file by hand.",
    ),
)
