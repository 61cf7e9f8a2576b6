"""Fields of a job file that all kinds share. Each kind in `gen.job.kinds` adds its own."""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from gen.base import regex
from gen.base.engines import JobState
from gen.job.metric import Metrics
from gen.job.model import OrMapping, Part, default
from gen.job.names import ImageRef, JobName, Label, MountPath, ObjectName
from gen.job.pods import MAX_PODS, PodFields
from gen.job.scalars import Count, Duration, Given, Positive, Size, Text, Truth, matching, refuse, schema
from gen.job.search import Search, Sweep
from gen.job.synonyms import CODE, JOB, MOUNT, SCHEDULE, TENSORBOARD, TRANSFER

POD_NETWORK: Final = "pod"
"""The default network of a cluster, available without declaration."""
NOT_DEFAULTS = frozenset({"clusters", "kfp", "kind", "name", "resume", "search", "steps", "sweep"})
"""Fields that each job sets itself, so that an overlay cannot have defaults for them."""


class Code(Part):
    """Source code to fetch into `<workingDir>/code/<name>` before the container starts."""

    synonyms: ClassVar[Mapping[str, str]] = CODE
    main: ClassVar[str] = "git"

    git: Given | None = None
    """URL of a Git repository, without a user name or password."""
    ref: Given = "HEAD"
    """Branch, tag or full commit hash. Only a commit hash makes the run reproducible."""
    depth: Count = 1
    """Number of commits to fetch; 0 fetches the whole history."""
    submodules: Literal["recursive", "shallow", "off"] = "recursive"
    """How to fetch submodules."""
    credentials: ObjectName | None = None
    """Secret in the job's namespace. Keys: `username` and `password` for https, `ssh` and `known_hosts` for ssh."""
    rsync: Given | None = None
    """Source on an rsync daemon (`host::module/path`), instead of `git`. Neither encrypted nor authenticated."""
    name: Label | None = None
    """Directory below `code/`. Defaults to the last part of the URL."""


class Mount(Part):
    """Where to mount a volume of the overlay in the pods."""

    synonyms: ClassVar[Mapping[str, str]] = MOUNT
    main: ClassVar[str] = "path"

    path: MountPath
    """Directory in the container."""
    sub_path: Given | None = None
    """Directory in the volume to mount instead of its root. Use `{{ run.id }}` to give each run its own directory."""
    read_only: Truth | None = None
    """Mount read-only. `false` overrides `mountReadOnly` of the overlay's volume, but not its `readOnly`."""


StorePath = Annotated[
    str,
    matching(
        regex(r"(?!/)(?:(?:^|/)(?!\.{1,2}(?:/|$))[^\x00-\x1f\x7f-\x9f\u2028\u2029/\\]+)+"),
        512,
        "a path without a leading `/`, empty parts, `.` and `..`",
        "use a form like `team/dataset`",
        meant=lambda text: text.strip("/"),
        form=schema("relative path", "string"),
    ),
]


class Place(Part):
    """Folder of an object store or of a volume."""

    synonyms: ClassVar[Mapping[str, str]] = TRANSFER
    main: ClassVar[str] = "store"

    store: Label | None = None
    """Object store of the overlay."""
    volume: Label | None = None
    """Volume of the overlay, instead of an object store."""
    path: StorePath
    """Folder in the store or volume."""


class Input(Place):
    """Files to copy before the job starts."""

    size: Size | None = None
    """Most bytes that the copy may need on the node's disk; a pod with more is evicted. Defaults to no limit."""


class Output(Place):
    """Where to copy files when the command ends, in a folder with the name of the run."""

    size: Size | None = None
    """Most bytes that the files may need on the node's disk; a pod with more is evicted. Defaults to no limit."""
    pods: Literal["all", "first"] = "all"
    """Pods to copy files from. With `all`, each of several pods has a folder of its own, such as `worker-0`."""


class Logs(Place):
    """Where to write the output of the command, in a folder with the name of the run."""


class TensorBoard(Part):
    """TensorBoard for the logs of the job. It outlives the runs."""

    synonyms: ClassVar[Mapping[str, str]] = TENSORBOARD
    main: ClassVar[str] = "logdir"

    logdir: MountPath | None = None
    """Directory of the event files, below a mount path in `data`. Defaults to the mount path if there is only one.
    A path with `{{ run.id }}` is cut before it, so that TensorBoard shows all runs."""
    image: ImageRef | None = None
    """Image with the `tensorboard` command. Defaults to the image of the overlay."""
    ingress: Truth = False
    """Expose it through the overlay's `tensorboard.ingress`."""


_MAX_TIMES = 400
"""The longest schedule without repetitions, a list of all values of each field, has 391 characters."""


def _short_enough(value: str) -> Any:
    if len(value) > _MAX_TIMES:
        remedy = "write ranges and steps, such as `0-30/5`, instead of lists"
        raise refuse(f"at most {_MAX_TIMES} characters", value, remedy)
    return value


CronText = Annotated[
    Given, AfterValidator(_short_enough), WithJsonSchema(schema("string", "string", maxLength=_MAX_TIMES))
]


class History(Part):
    """Ended runs of a schedule that the cluster keeps."""

    succeeded: Count = 3
    """Succeeded runs."""
    failed: Count = 1
    """Failed runs. With `concurrency: Replace`, only `kind: batch` keeps any."""


class Schedule(Part):
    """Times at which the job runs."""

    synonyms: ClassVar[Mapping[str, str]] = SCHEDULE
    main: ClassVar[str] = "cron"

    cron: CronText
    """Minute, hour, day, month and day of the week, such as `0 3 * * *`, or a word such as `@daily`."""
    time_zone: Given = "Etc/UTC"
    """Time zone of these times, such as `Europe/Berlin`."""
    concurrency: Literal["Forbid", "Allow", "Replace"] = "Forbid"
    """What happens at a time when the previous run has not ended: `Forbid` omits the new run, `Replace` stops the
    previous one, `Allow` runs both, and needs a `timeout`."""
    deadline: Duration = 3600
    """How late a run may start, after an outage or an edit. Later, it is omitted. [default: `1h`]"""
    history: History = default(History)
    """Ended runs that the cluster keeps."""


class JobFields(PodFields):
    """Fields of every kind of job."""

    synonyms: ClassVar[Mapping[str, str]] = JOB
    listed_as: ClassVar[str] = "job"

    kind: str
    """Kind of job."""
    name: JobName | None = None
    """Name of the job. Defaults to the file name."""
    clusters: tuple[Text, ...] = ()
    """Overlays that render the job, each by its name, its `cluster`, or one of its labels, such as `region=eu`. An
    overlay must also select the job. Defaults to all that do."""
    workers: Annotated[Positive, Field(le=MAX_PODS)] = 1
    """Number of training pods."""
    code: Code | None = None
    """Source code to fetch before the container starts, into `code/<name>` of the working directory. The command names
    this path, such as `torchrun code/project/train.py`."""
    data: dict[str, OrMapping[MountPath, Mount]] = Field(default_factory=dict)
    """Volumes to mount: name of the overlay's volume, and mount path."""
    files: dict[str, Text] = Field(default_factory=dict)
    """Small text files, by absolute path. They are stored in a ConfigMap."""
    inputs: dict[MountPath, Input] = Field(default_factory=dict)
    """Folders to fill before the job starts: path in the container, and the object store or volume to copy from.
    `docs/batch.md` describes them."""
    outputs: dict[MountPath, Output] = Field(default_factory=dict)
    """Folders to copy when the command ends: path in the container, and the object store or volume to copy to."""
    checkpoints: MountPath | None = None
    """Directory below a mount path in `data` for checkpoints. Each run has a folder with its name there, which is in
    `CHECKPOINT_DIR` and `{{ run.checkpoints }}`. `docs/checkpoints.md` describes them."""
    resume: ObjectName | None = None
    """Earlier run of the job to continue from, such as `mnist-3f9c21ab`; `gen rerun --resume` writes it. Its folder in
    `checkpoints` is in `RESUME_DIR` and `{{ run.resume }}`, read-only."""
    logs: Logs | None = None
    """Write the output of the command to files, too."""
    tensorboard: OrMapping[Truth, TensorBoard] = False
    """Run a TensorBoard for the logs of the job."""
    network: Given = POD_NETWORK
    """Network of the overlay. `pod` is the default network of the cluster."""
    queue: Label | None = None
    """Queue of the overlay, such as a LocalQueue of Kueue. The overlay must grant it to the namespace."""
    priority: ObjectName | None = None
    """Priority of the overlay, or PriorityClass of the pods. The overlay must grant it to the namespace."""
    service_account: ObjectName | None = None
    """ServiceAccount of the pods. The overlay must grant it to the namespace."""
    image_pull_secrets: tuple[ObjectName, ...] = ()
    """Image pull secrets in the job's namespace."""
    restart: Literal["Never", "OnFailure", "Always", "ExitCode"] | None = None
    """Restart policy for containers that exit. Supported values and the default depend on the kind."""
    retries: Count | None = None
    """Restarts of all pods together that the job survives. Operators that count each pod get a multiple of it; if only
    some pods fail, the job survives more. `docs/operators.md` has the default of each kind."""
    timeout: Duration | None = None
    """Maximum run time, such as `12h`. It begins when the operator first sees the job or resumes it, and includes the
    time in which pods wait for nodes. For MPI jobs of v2beta1 without a queue, it begins when all workers are ready."""
    state: JobState = "active"
    """Desired state. `stopped` ends the run and keeps its record in Git; `finished` keeps the record of a run that has
    ended, and stops nothing. A record is never applied again."""
    schedule: OrMapping[CronText, Schedule] | None = None
    """Run the job at set times, such as `0 3 * * *` in UTC. `docs/schedules.md` describes schedules."""
    attempt: Positive = 1
    """Increase it to run the same job again."""
    params: dict[str, Text] = Field(default_factory=dict)
    """Values for `{{ params.… }}`. The overlay's `params` override them."""
    sweep: Sweep | None = None
    """Run the job once for each combination of values of its parameters. `docs/sweeps.md` describes sweeps."""
    search: Search | None = None
    """Let Katib search the values of parameters that give the best metric. `docs/search.md` describes searches."""
    labels: dict[str, Text] = Field(default_factory=dict)
    """Labels for all objects of the job, but not for its pods. Changing them does not start a new run."""
    annotations: dict[str, Text] = Field(default_factory=dict)
    """Annotations for all objects of the job, but not for its pods. Changing them does not start a new run."""
    metrics: Metrics = ()
    """Metrics that the program prints, such as `[loss, accuracy:PERCENTAGE]`. `docs/metrics.md` describes what reads
    them. They are in the annotation `gen/metrics` of the run."""
