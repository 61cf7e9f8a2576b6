"""Decisions about one job in one overlay: names, sizes, pods, volumes, copies, network and starter.

`gen.render.build` writes them as Kubernetes objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Final

from msgspec import Struct

from gen.base import Route
from gen.base.engines import JobState, may_run
from gen.kubernetes.objects import Body

if TYPE_CHECKING:
    from gen.job.kinds.role import Role
    from gen.job.metric import KnownMetric
    from gen.job.profile import Effect
    from gen.job.queue import QueueProfile
    from gen.kubernetes.facts.base import Resource
    from gen.kubernetes.facts.runtimes import Runtime


class Edit(StrEnum):
    """Effect of an edit of a job on its object in Git."""

    NEW_RUN = "new run"
    """Another run takes the place of the previous one. A change of the platform alone keeps the committed run."""
    IN_PLACE = "in place"
    """The object stays and changes. Runs that have started go on, and later ones follow the edited job."""
    NEW_VERSION = "new version"
    """Another version takes its place. No run starts or stops."""


class StarterPlan(Struct, frozen=True, kw_only=True):
    """What starts the runs of a job: the decisions about it, and what holds for all jobs with the same starter."""

    name: ClassVar[str]
    field: ClassVar[str] = ""
    """The job field that selects it."""
    edit: ClassVar[Edit] = Edit.NEW_RUN
    decisive: ClassVar[frozenset[str]] = frozenset()
    """Job fields that start a new run only with this starter."""
    permission: ClassVar[str] = ""
    """The required field of the grant, in messages; empty without one."""
    runs_in_git: ClassVar[bool] = True
    """Whether Git has its runs, or the times at which they start. If not, people start them."""
    unit: ClassVar[str] = ""
    """What its progress counts: steps or trials; empty if it has none."""
    explained: ClassVar[bool] = False
    """Whether the objects that a run starts explain why it waits or failed."""
    dispensable: ClassVar[bool] = False
    """Whether it goes on after a run that failed."""
    inner: ClassVar[bool] = False
    """Whether its object contains that of the run, which was patched and checked before."""
    is_run: ClassVar[bool] = False
    """Whether its object is the run itself, and starts no others."""
    repeats: ClassVar[bool] = False
    """Whether one object starts a run at each of several times. It keeps its name then, without a hash."""
    named_later: ClassVar[bool] = False
    """Whether the object of a run gets its name when the run starts."""
    admitted: ClassVar[bool] = True
    """Whether a queue admits the object in Git, and not those that it starts."""
    is_workflow: ClassVar[bool] = False
    """Whether Argo Workflows runs it."""
    whole_hash: ClassVar[bool] = False
    """Whether the hash of a run covers the metadata of its steps, too."""
    run: ClassVar[str] = "run"
    """Name of a run in messages."""
    whole: ClassVar[str] = ""
    """Name of all runs together in messages, if it starts several in turn; empty for others."""
    digits: ClassVar[str] = "hash"
    """The end of the name of a run."""
    run_digits: ClassVar[int] = 0
    """Characters that the name of a run adds to that of the object in Git."""
    creator: ClassVar[str] = ""
    """What creates the objects of a pipeline's steps, if runs are named later."""
    phrase: ClassVar[str] = ""
    """Such a pipeline, in messages: a pipeline with `<phrase>`."""
    where: ClassVar[str] = ""
    """Places of a job without the name of the run, in messages."""
    name_of_run: ClassVar[str] = ""
    """Placeholder of the name of the run in the objects of a pipeline's steps."""

    facts: Resource
    """Facts of the object in Git."""
    at_once: int = 1
    """Runs that can overlap."""

    @classmethod
    def resource(cls, facts: Resource) -> Resource:
        """Facts of the object in Git, for runs of a kind with these facts."""
        return facts

    @classmethod
    def suffix(cls, suffix: str, room: int, *, aside: bool) -> tuple[str, int]:
        """The longest suffix of a run's objects, and its length. `aside` is that of an object that all runs share."""
        return suffix, room

    @classmethod
    def queue_fault(cls, profile: QueueProfile, facts: Resource, api_version: str) -> str:
        """Why a queue cannot take its runs; empty if it can."""
        return ""

    @property
    def reader(self) -> str | None:
        """The image that reads the results of a step, if it has one of its own."""
        return None


class ResultsPlan(Struct, frozen=True, kw_only=True):
    """The pod that reads the results of a step from a log."""

    image: str
    command: tuple[str, ...]
    args: tuple[str, ...]
    names: tuple[str, ...]
    """The results, each a file of the pod."""


OWN_FOLDER: Final = "/gen"
"""Folder of a container for copies."""


class InputPlan(Struct, frozen=True, kw_only=True):
    """Files to copy before the command starts."""

    source: str
    """As rclone names it."""
    path: str


class OutputPlan(Struct, frozen=True, kw_only=True):
    """Files to copy when the command ends."""

    path: str
    target: str
    """As rclone names it."""
    pod: str
    """Indices of the pod, which are zeros in the pods to copy from."""


class LogPlan(Struct, frozen=True, kw_only=True):
    """Files for the output of the command."""

    folder: str
    target: str
    """Where to copy the folder; empty if it is on a volume."""


class TransferPlan(Struct, frozen=True, kw_only=True):
    """Copies of the pods of one role. Names of rclone and folders can refer to variables, as `$(NAME)`."""

    image: str
    resources: Mapping[str, str]
    inputs: tuple[InputPlan, ...]
    input_env: tuple[Body, ...]
    """Settings of rclone in the init container."""
    input_mounts: tuple[MountPlan, ...]
    outputs: tuple[OutputPlan, ...]
    log: LogPlan | None
    env: tuple[Body, ...]
    """Settings of rclone, and the indices of the pod, in the training container."""
    mounts: tuple[MountPlan, ...]
    """In the training container."""
    volumes: tuple[VolumePlan, ...]
    grace: int
    """Seconds for the copies after the pod was stopped."""

    @property
    def wraps(self) -> bool:
        """Whether the command runs below the script that copies when it ends."""
        return bool(self.outputs) or self.log is not None


class MountPlan(Struct, frozen=True, kw_only=True):
    """A mount in the training container."""

    volume: str
    path: str
    sub_path: str | None = None
    read_only: bool = False
    route: Route = ()
    """The field of the job that requests it."""


class VolumePlan(Struct, frozen=True, kw_only=True):
    """A volume of the pod, under the name that mounts use."""

    name: str
    source: Body
    annotations: Mapping[str, str] = {}
    """Annotations that its pods need."""
    labels: Mapping[str, str] = {}
    """Labels that its pods need."""


class CodePlan(Struct, frozen=True, kw_only=True):
    """An init container that fetches code into a volume."""

    image: str
    git: str | None
    rsync: str | None
    ref: str
    depth: int
    submodules: str
    credentials: str | None
    name: str
    resources: Mapping[str, str]

    @property
    def ssh(self) -> bool:
        """Whether `git` accesses the repository through ssh."""
        return self.git is not None and not self.git.startswith(("https://", "http://"))


class Spread(Struct, frozen=True, kw_only=True):
    """Pods of a run that are kept apart."""

    level: str
    """`node` or `zone`."""
    roles: tuple[str, ...]
    """Roles with pods that must not share a node or zone."""


class NodePlan(Struct, frozen=True, kw_only=True):
    """Nodes for the pods of a role."""

    labels: Mapping[str, tuple[str, ...]]
    """Accepted values by node label."""
    tolerations: tuple[Body, ...]
    spread: Spread | None


class PodPlan(Struct, frozen=True, kw_only=True):
    """The pods of one role."""

    role: Role
    image: str
    pull_policy: str | None
    command: tuple[str, ...]
    args: tuple[str, ...]
    working_dir: str | None
    env: tuple[Body, ...]
    resources: Mapping[str, str]
    mounts: tuple[MountPlan, ...]
    volumes: tuple[VolumePlan, ...]
    nodes: NodePlan
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    effect: Effect
    """Changes by its accelerator and by the network of the job."""
    accelerator: str
    """Name of its accelerator; empty without GPUs, and for the GPUs of an overlay without `accelerators`."""
    code: CodePlan | None
    transfer: TransferPlan | None
    """Files to copy; None if there are none."""


class IngressPlan(Struct, frozen=True, kw_only=True):
    host: str
    path: str
    class_name: str | None
    tls_secret: str | None
    annotations: Mapping[str, str]


class TensorBoardPlan(Struct, frozen=True, kw_only=True):
    """A TensorBoard over one of the job's mounts."""

    name: str
    image: str
    logdir: str
    env: tuple[Body, ...]
    resources: Mapping[str, str]
    mount: MountPlan
    volume: VolumePlan
    ingress: IngressPlan | None


class QueuePlan(Struct, frozen=True, kw_only=True):
    """The queue of a run."""

    name: str
    """As the job names it."""
    profile: QueueProfile
    declared: bool
    """Whether the overlay declares it."""


class ExitPlan(Struct, frozen=True, kw_only=True):
    """The pod that sends a message at the end of a workflow."""

    image: str
    secret: str
    command: tuple[str, ...]
    args: tuple[str, ...]


class StepPlan(Struct, frozen=True, kw_only=True):
    """A step of a pipeline."""

    name: str
    needs: tuple[str, ...]
    when: str
    facts: Resource
    plan: Plan
    results: ResultsPlan | None = None
    """None for a step without results."""
    uses: tuple[tuple[str, str], ...] = ()
    """Results of other steps in its texts, each a step and a name."""
    params: tuple[str, ...] = ()
    """Open parameters in its texts."""


class Plan(Struct, frozen=True, kw_only=True):
    """One job in one overlay, or a step of it."""

    kind: str
    """Kind of the job, as its author writes it."""
    container: str
    """Name of the training container."""
    name: str
    """Name of the run without its hash; the job's name if the job has one run."""
    job: str
    """Name of the job."""
    run: str
    """Name of the run's objects, with the placeholder `gen.base.placeholders.RUN` until the hash is known."""
    object_name: str
    """Name of the object that the operator runs; that of a trial is a placeholder."""
    namespace: str
    source: str
    """The job file."""
    overlay: str
    kubernetes: str
    """Version of the cluster, such as `1.34`."""
    api_version: str
    served: str
    """The release of the operator if releases differ, or the API version."""
    pods: tuple[PodPlan, ...]
    runtime: Runtime | None
    """The runtime in the cluster with the templates of its pods; None if gen writes them."""
    files: Mapping[str, str]
    """Content of the ConfigMap, by key."""
    storage: tuple[str, ...]
    """Volumes of the overlay that the job uses."""
    tensorboard: TensorBoardPlan | None
    queue: QueuePlan | None
    priority: str | None
    """PriorityClass of the pods."""
    preemption_policy: str | None
    """Policy that the class must have, as the overlay states it."""
    service_account: str | None
    pull_secrets: tuple[str, ...]
    retries: int | None
    timeout: int | None
    state: JobState
    starter: StarterPlan
    """What starts its runs."""
    on_exit: ExitPlan | None
    """None without a message at the end of a workflow."""
    attempt: int
    metrics: tuple[KnownMetric, ...]
    values: Mapping[str, str]
    """Values of the parameters of a sweep, sorted by name; empty for other runs."""
    can_suspend: bool
    """Whether a field of the object suspends it."""
    suspend_stops: bool
    """Whether its pods end when that field is set."""
    stable: bool
    """Whether the object is named without a hash: the overlay does so, or it is a schedule."""
    arena: str
    """Name of the kind in the client of Arena, which finds the run by it; empty if the overlay does not want that."""
    engines: tuple[str, ...]
    """GitOps engines that may apply the objects."""
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    step: str = ""
    """Name of the step, if it is one."""
    steps: tuple[StepPlan, ...] = ()
    """Steps of a pipeline, each after those that it needs."""
    checkpoints: str = ""
    """The folder of its checkpoints, as `volume:path`; empty without one, or if its name is known later."""
    resumes: str = ""
    """The folder of the earlier run that it continues from; empty without one."""
    pins: Mapping[str, str] = {}
    """Pins of images and code that the job file names, by image or by URL and ref."""

    @property
    def folder(self) -> str:
        """Folder of the job's files below `rendered/<overlay>/jobs/`."""
        return f"{self.namespace}/{self.job}"

    @property
    def inner(self) -> bool:
        """Whether another object creates the one of the run."""
        return bool(self.step) or self.starter.inner

    @property
    def counts(self) -> bool:
        """Whether its pods may run. A suspended pipeline or schedule only starts no more."""
        return may_run(self.state, suspend_stops=self.suspend_stops)

    @property
    def gpus(self) -> int:
        """GPUs of all pods that the job asks for. Patches may add some: `demand` counts those of the object."""
        return sum(pod.role.gpus * pod.role.most for pod in self.pods) * self.starter.at_once
