"""Decisions about one job in one overlay. `gen.render.build` writes them as Kubernetes objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from gen.kinds.definition_plan import DefinitionPlan
from gen.kinds.mounts import MountPlan, VolumePlan
from gen.kinds.results_plan import ResultsPlan
from gen.kinds.schedule_plan import ExitPlan, SchedulePlan
from gen.kinds.transfer_plan import TransferPlan
from gen.kubernetes import Body
from gen.resources.demand import Demand, joined

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.diagnostics import Location
    from gen.kinds.role import Role
    from gen.model.effect import Effect
    from gen.model.metric import KnownMetric
    from gen.model.search import Search, SearchAlgorithm, Space
    from gen.queues import QueueProfile
    from gen.resources.base import Resource
    from gen.storage import StorageProfile, Volume


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
    """Roles whose pods are kept apart from each other."""


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


class StoragePlan(Struct, frozen=True, kw_only=True):
    """A volume of the overlay in a namespace with jobs that use it."""

    volume: Volume
    profile: StorageProfile
    place: Location
    """Place of its declaration."""


class ResourceQuotaPlan(Struct, frozen=True, kw_only=True):
    """The ResourceQuota of a namespace."""

    namespace: str
    hard: Mapping[str, str]
    """Limits by resource."""
    place: Location
    """Place of the field that asks for it."""


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


class SearchPlan(Struct, frozen=True, kw_only=True):
    """A search, and how Katib runs its trials."""

    facts: Resource
    """Facts of the object that runs the trials."""
    wanted: Search
    metrics: tuple[KnownMetric, ...]
    """The metrics to collect, the one that decides first."""
    spaces: Mapping[str, Space]
    algorithm: SearchAlgorithm
    stopper: SearchAlgorithm | None
    first: str
    """Role of the pod whose log has the metrics."""
    primary: Mapping[str, str]
    """Labels of that pod."""
    succeeded: str
    """Condition of a trial that has succeeded."""
    failed: str


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
    """Name of the run's objects, with the placeholder `gen.kubernetes.RUN` until the hash is known."""
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
    state: str
    schedule: SchedulePlan | None
    """None for a job that runs once."""
    on_exit: ExitPlan | None
    """None without a message at the end of a workflow."""
    search: SearchPlan | None
    """None for a job whose values are known."""
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
    definition: DefinitionPlan | None = None
    """How Kubeflow Pipelines runs a pipeline; None for one that Argo Workflows runs."""
    pins: Mapping[str, str] = {}
    """Pins of images and code that the job file names, by image or by URL and ref."""

    @property
    def folder(self) -> str:
        """Folder of the job's files below `rendered/<overlay>/jobs/`."""
        return f"{self.namespace}/{self.job}"

    @property
    def at_once(self) -> int:
        """Runs of the job that can overlap."""
        if self.search is not None:
            return self.search.wanted.parallel_trials
        return self.schedule.at_once if self.schedule is not None else 1

    @property
    def inner(self) -> bool:
        """Whether another object creates the one of the run."""
        return bool(self.step) or self.search is not None or self.in_workflow

    @property
    def in_workflow(self) -> bool:
        """Whether a workflow starts each run of the schedule."""
        return self.schedule is not None and self.schedule.facts.is_workflow

    @property
    def counts(self) -> bool:
        """Whether its pods may run. A suspended pipeline or schedule only starts no more."""
        return self.state == "active" or (self.state == "suspended" and not self.suspend_stops)

    @property
    def gpus(self) -> int:
        """Total GPUs of all pods of all runs at once, at most."""
        return self.demand.gpus

    @property
    def demand(self) -> Demand:
        """Pods and GPUs of all runs at once, at most."""
        if self.steps:
            needs = {step.name: frozenset(step.needs) for step in self.steps}
            return joined(needs, {step.name: step.plan.demand for step in self.steps}).times(self.at_once)
        total: dict[str, int] = {}
        for pod in self.pods:
            if pod.accelerator:
                total[pod.accelerator] = total.get(pod.accelerator, 0) + pod.role.gpus * pod.role.most
        pods = sum(pod.role.most for pod in self.pods) + self.in_workflow
        gpus = sum(pod.role.gpus * pod.role.most for pod in self.pods)
        return Demand(pods, gpus, self.timeout, total).times(self.at_once)
