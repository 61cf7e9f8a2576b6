"""Fields of a job file that all kinds share. Each kind in `gen.kinds` adds its own."""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from gen.model.base import Model, OrMapping
from gen.model.metric import Metrics
from gen.model.names import (
    ImageRef,
    JobName,
    Label,
    MountPath,
    ObjectName,
)
from gen.model.pods import MAX_PODS, PodFields
from gen.model.scalars import (
    Count,
    Duration,
    Given,
    Positive,
    Text,
    Truth,
)
from gen.model.schedule import CronText, Schedule
from gen.model.search import Search
from gen.model.sweep import Sweep
from gen.model.synonyms import CODE, JOB, MOUNT, TENSORBOARD
from gen.model.transfer import Input, Logs, Output
from gen.model.validators import WhenGiven

NOT_DEFAULTS = frozenset({"clusters", "kfp", "kind", "name", "search", "steps", "sweep"})
"""Fields that each job sets itself, so that an overlay cannot have defaults for them."""


class Code(Model):
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


class Mount(Model):
    """Where to mount a volume of the overlay in the pods."""

    synonyms: ClassVar[Mapping[str, str]] = MOUNT
    main: ClassVar[str] = "path"

    path: MountPath
    """Directory in the container."""
    sub_path: Given | None = None
    """Directory in the volume to mount instead of its root. Use `{{ run.id }}` to give each run its own directory."""
    read_only: Truth | None = None
    """Mount read-only. `false` overrides `mountReadOnly` of the overlay's volume, but not its `readOnly`."""


class TensorBoard(Model):
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


class JobFields(PodFields):
    """Fields of every kind of job."""

    synonyms: ClassVar[Mapping[str, str]] = JOB

    kind: str
    """Kind of job."""
    name: JobName | None = None
    """Name of the job. Defaults to the file name."""
    clusters: tuple[Text, ...] = ()
    """Overlays that render the job, each by its name, its `cluster`, or one of its labels, such as `region=eu`. An
    overlay must also select the job. Defaults to all that do."""
    workers: Annotated[Positive, Field(le=MAX_PODS)] = 1
    """Number of training pods."""
    code: WhenGiven[Code] | None = None
    """Source code to fetch before the container starts, into `code/<name>` of the working directory. The command names
    this path, such as `torchrun code/project/train.py`."""
    data: dict[str, OrMapping[MountPath, Mount]] = Field(default_factory=dict)
    """Volumes to mount: name of the overlay's volume, and mount path."""
    files: dict[str, Text] = Field(default_factory=dict)
    """Small text files, by absolute path. They are stored in a ConfigMap."""
    inputs: dict[MountPath, WhenGiven[Input]] = Field(default_factory=dict)
    """Folders to fill before the job starts: path in the container, and the object store or volume to copy from.
    `docs/batch.md` describes them."""
    outputs: dict[MountPath, WhenGiven[Output]] = Field(default_factory=dict)
    """Folders to copy when the command ends: path in the container, and the object store or volume to copy to."""
    logs: WhenGiven[Logs] | None = None
    """Write the output of the command to files, too."""
    tensorboard: OrMapping[Truth, TensorBoard] = False
    """Run a TensorBoard for the logs of the job."""
    network: Given = "pod"
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
    state: Literal["active", "suspended", "finished"] = "active"
    """Desired state. `finished` keeps the run in Git as a record that is never applied again."""
    schedule: OrMapping[CronText, Schedule] | None = None
    """Run the job at set times, such as `0 3 * * *` in UTC. `docs/schedules.md` describes schedules."""
    attempt: Positive = 1
    """Increase it to run the same job again."""
    params: dict[str, Text] = Field(default_factory=dict)
    """Values for `{{ params.… }}`. The overlay's `params` override them."""
    sweep: WhenGiven[Sweep] | None = None
    """Run the job once for each combination of values of its parameters. `docs/sweeps.md` describes sweeps."""
    search: WhenGiven[Search] | None = None
    """Let Katib search the values of parameters that give the best metric. `docs/search.md` describes searches."""
    labels: dict[str, Text] = Field(default_factory=dict)
    """Labels for all objects of the job, but not for its pods. Changing them does not start a new run."""
    annotations: dict[str, Text] = Field(default_factory=dict)
    """Annotations for all objects of the job, but not for its pods. Changing them does not start a new run."""
    metrics: Metrics = ()
    """Metrics that the program prints, such as `[loss, accuracy:PERCENTAGE]`. `docs/metrics.md` describes what reads
    them. They are in the annotation `gen/metrics` of the run."""
