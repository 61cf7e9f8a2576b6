"""Types for the facts of a Kubernetes kind: pods, fields that control a run, status, API versions, trials, changes.

Routes are tuples of field names. `ANY_KEY` and `ANY_ITEM` match every key of a mapping and every item of a list. Facts
are compared by identity, so that importing these classes is cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Final

from msgspec import Struct, field

from gen.base import with_article
from gen.kubernetes.objects import Body


class Wildcard(Enum):
    """A step of a pattern that matches several steps in an object."""

    KEY = "every key of a mapping"
    ITEM = "every item of a list"


ANY_KEY: Final = Wildcard.KEY
ANY_ITEM: Final = Wildcard.ITEM

Path = tuple[str, ...]
"""A route through mappings."""
Pattern = tuple[str | Wildcard, ...]
"""A route through mappings and lists, with wildcards."""


class Count(Struct, frozen=True, kw_only=True, eq=False):
    """A field that multiplies the number of pods."""

    route: Pattern
    """Has the same wildcards at the same places as the route of the template."""
    default: int = 1
    """Value when the field is absent."""
    largest: Pattern | None = None
    """Route of the field with the largest value that an autoscaler may set; None if the kind has none."""
    hosts: bool = False
    """Whether it is the number of hosts of a replica, which the operator numbers."""


class PodSet(Struct, frozen=True, kw_only=True, eq=False):
    """Pods that are created from one template, or from each template that one pattern matches."""

    template: Pattern
    counts: tuple[Count, ...] = ()
    """The number of pods is the product of these fields; 1 if there are none."""
    roles: Path = ()
    """Valid keys, if the last wildcard is the key of a role."""
    role: str = "worker"
    """Role of a template with a route that does not name one."""
    item_name: str = "name"
    """Field with the name of the role, if the last wildcard is an item of a list."""
    pod_name: str | Callable[[Body, str], str] = "{run}-{random}"
    """Names of the pods, or a function of the object and the role: `{run}` is the name of the object, `{role}` the role
    in lower case, `{0}` and `{1}` are the indices below the counts, `{random}` are random characters."""

    @property
    def role_map(self) -> str:
        """Name of the mapping from roles to their templates."""
        holder = self.template[self.template.index(ANY_KEY) - 1]
        assert isinstance(holder, str)  # a wildcard is below a field
        return holder


class PodOf(Struct, frozen=True):
    """A container of a pod of an object."""

    body: Body
    role: str
    """As the object has it."""
    index: int
    """Number of the pod in its role."""
    container: Body
    first: bool = True
    """Whether it is the first container of the pod, not counting init containers."""
    init: bool = False
    """Whether it is an init container."""


class Conditions(Struct, frozen=True, kw_only=True, eq=False):
    """A status in `status.conditions`: the types that are `"True"` in each state."""

    succeeded: str
    failed: str
    suspended: str | None = None


class Phase(Struct, frozen=True, kw_only=True, eq=False):
    """Values of a status field that mean the same state."""

    field: Path
    values: tuple[str, ...]


class Phases(Struct, frozen=True, kw_only=True, eq=False):
    """A status in fields with one word each. A state holds if any of its phases does; failure is tested first."""

    succeeded: tuple[Phase, ...]
    failed: tuple[Phase, ...]
    suspended: tuple[Phase, ...] = ()


class EndCondition(Struct, frozen=True, kw_only=True, eq=False):
    """How a workflow waits for the end of a run, if that does not follow from its status.

    Argo Workflows compares single fields, and cannot search a list of conditions.
    """

    ended: Path = ()
    """A field that exists from the end of the run on, in a status with conditions."""
    succeeded: tuple[Phase, ...] = ()
    """Phases that all hold after success, instead of those of the status."""
    failed: tuple[Phase, ...] = ()
    """Phases after failure: one of these holds."""
    instead: Resource | None = None
    """An object that the operator gives the name of the run, and that ends with it."""


class Times(Struct, frozen=True, kw_only=True, eq=False):
    """Routes in the status of a schedule, for the end of its last run."""

    started: Path
    succeeded: Path
    active: Path
    """Route of the list of runs that have not ended."""


class Nodes(Struct, frozen=True, kw_only=True, eq=False):
    """Pods of one shape with a template in the cluster."""

    count: Path
    """Route of their number, which is 1 if it is absent."""
    resources: Path
    """Route of the requests and limits of each."""
    changes: Pattern
    """Route of templates with changes of such pods; the items of the last list have the names of the shapes."""
    name: str
    """Name of the shape."""
    made: Resource
    """The kind that the operator makes from an object and the template, which has the pods."""


Status = Conditions | Phases


class DerivedName(Struct, frozen=True, kw_only=True, eq=False):
    """A name that an operator or controller gives to another object: the name of an object and a suffix."""

    suffix: str
    """`{role}` is the role in lower case; `{0}` and `{1}` for every index below the first and second count."""
    kinds: tuple[str, ...] = ()
    """Kinds of the objects with this name. Empty for host names, and if more characters follow."""
    each: Pattern = ()
    """Route of every role, with its key as the last step, or of every item of a list, which has a `name`."""
    unnamed: str = ""
    """Name of an item without one; `{}` is its index."""
    counts: tuple[Count, ...] = ()
    """With the same wildcards as `each`. There are no such names if one of the numbers is 0."""
    only: Path = ()
    """The roles with this name, in lower case; empty for every role."""


class RetiredVersion(Struct, frozen=True, kw_only=True, eq=False):
    """An API version that is deprecated or removed."""

    instead: str
    """The API version to use, or a sentence if there is none."""
    deprecated: int = 0
    """Minor version of Kubernetes; 0 for operators, which have versions of their own."""
    removed: int | None = None
    """First minor version without it; None if no removal is planned."""


class Queueing(Struct, frozen=True, kw_only=True, eq=False):
    """How Kueue admits the objects of a kind."""

    framework: str
    """Name in `integrations.frameworks` of its configuration."""
    shipped: bool = True
    """Whether its configuration lists the framework as shipped."""
    versions: tuple[str, ...] = ()
    """API versions that it admits; empty for all."""
    elastic: bool = False
    """Whether it counts the pods of an autoscaled run as they change."""
    appends: Path | None = None
    """Route of the list to which it appends an entry of its own."""
    marks: tuple[Pattern, ...] = ()
    """Metadata of pod templates to which it adds, in lists that engines compare as a whole (`pkg/podset/podset.go`)."""


class FilledField(Struct, frozen=True, kw_only=True, eq=False):
    """A field that a definition, webhook or operator adds or removes, inside a part that engines compare as a whole."""

    place: Pattern
    field: Path
    """Route below each `place`."""
    value: object = None
    """The same for all objects; None if it depends on the object, or if gen has always written the field."""
    in_all: bool = True
    """Whether every version of the operator knows the field, so that gen writes it."""


class Group(Struct, frozen=True, kw_only=True, eq=False):
    """A scheduler with groups of pods that the operator makes itself."""

    scheduler: str
    """As overlays name it."""
    settings: Mapping[str, Path]
    """Routes of the fields and labels of an object that set `queue`, `priorityClass`, `minAvailable`, `minResources` or
    `timeout`."""
    option: str = ""
    """Option with which the operator must run; empty if it needs none."""
    versions: tuple[str, ...] = ()
    """API versions of the operator; empty for all."""


class Resource(Struct, frozen=True, kw_only=True, eq=False):
    """Facts of one Kubernetes kind. A route is None if the kind has no such field."""

    group: str
    """API group; empty for the core group."""
    kind: str
    title: str = ""
    """Name in messages, if a kind of Kubernetes has the same. [default: that of the kind]"""
    versions: Mapping[str, Path] = field(default_factory=dict)
    """Current API versions, best first, each with the restart policies of its pods, the default of gen first."""
    releases: Mapping[str, str] = field(default_factory=dict)
    """Minor versions of the operator that differ within an API version, best first, each with its API version."""
    retired: Mapping[str, RetiredVersion] = field(default_factory=dict)
    """Deprecated and removed API versions."""
    pods: tuple[PodSet, ...] = ()
    restarts_by_role: bool = False
    """Whether a role has a `restartPolicy`. The operator replaces that of the pod template, and records a warning."""
    default_restarts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By API version: the policies of roles without one. Pods of other roles only wait."""
    nodes: Nodes | None = None
    partial_templates: Path = ()
    """Fields that hold parts of pod templates, or templates with placeholders."""
    indices: tuple[str, ...] = ()
    """Labels or annotations of its pods with their index in their role."""
    numbers_hosts: bool = False
    """Whether GKE gives the pods `TPU_WORKER_ID` and `TPU_WORKER_HOSTNAMES`, the hosts of a TPU slice: those of indexed
    Jobs ("Plan TPUs in GKE"), also if a JobSet makes them."""
    pod_env: Callable[[PodOf], list[Body]] | None = None
    """The variables that its operator adds to a container."""
    added_containers: Callable[[Body, str], Mapping[str, list[Body]]] | None = None
    """The containers that its operator adds to a pod of a role, by `containers` and `initContainers`."""
    run_labels: Mapping[str, int] = {}
    """Labels of its pods with its name, and the number of characters that follow it there."""
    container: str | None = None
    """Name of the container that the operator looks for in each pod; None if it accepts any."""
    is_run: bool = False
    """Whether an object is one run of a program, which ends."""
    is_schedule: bool = False
    """Whether an object starts runs at set times. Their objects belong to it, and no engine knows of them."""
    run_metadata: Path = ("metadata",)
    """Metadata of a run: of the object, or of the template of a schedule, whose own labels say nothing about runs."""
    scheduled_by: Resource | None = None
    """The kind that schedules this kind."""
    holds: Held | None = None
    """The objects that it makes from a template, if they have a kind of their own."""
    trial: Trial | None = None
    """How Katib runs objects of this kind; None if it cannot read their metrics."""
    suspend: Path | None = None
    suspend_stops: bool = True
    """Whether the operator stops the pods of a suspended object. A schedule only starts no more."""
    deadline: Path | None = None
    """Route of the field that limits the run time, in seconds."""
    retries: Path | None = None
    """Route of the field that limits failures or restarts."""
    limits_attempt: bool = False
    """Whether `deadline` starts again with each of the `retries`."""
    kept: Path | None = None
    """Route of the field with the seconds for which pods stay after the end of the run."""
    ttl: Path | None = None
    """Route of the field after which the object itself is deleted, in seconds after the end of the run."""
    cleanup: Path | None = None
    """Route of the field that selects the pods to delete when the run ends."""
    status: Status | None = None
    awaited: EndCondition | None = None
    """How a workflow waits for the end of an object, if the status does not say it in a phase."""
    is_definition: bool = False
    """Whether people start runs of an object outside of Git: a pipeline of Kubeflow Pipelines."""
    steps: Path = ()
    """Route of the workflow or pipeline that contains objects of steps as texts; empty if there are none."""
    times: Times | None = None
    """The end of the last run of a schedule; None if its status does not have it."""
    troubles: tuple[str, ...] = ()
    """Conditions of a schedule that cannot start runs."""
    known_to_engines: bool = False
    """Whether Argo CD and Flux have a health check for the kind."""
    kueue: Queueing | None = None
    """How Kueue admits an object; None if it does not."""
    groups: tuple[Group, ...] = ()
    """Schedulers with groups of pods that the operator makes; for others, each pod must name its group."""
    scheduler: str | None = None
    """The only scheduler of its pods, as overlays name it; None if the pod templates select it."""
    elastic: bool = False
    """Whether Kueue can change the number of pods of an admitted object."""
    scaled: Path = ()
    """Route of the number of replicas that the `scale` subresource of a custom kind sets."""
    claims: tuple[Pattern, ...] = ()
    """Routes of names of claims that become volumes of the pods."""
    added_volumes: tuple[str, ...] = ()
    """Names of volumes that the operator adds to the pods."""
    defaults: Mapping[Pattern, object] = {}
    """By route: the value of its definition, webhook or operator for a field that gen leaves to it, or that a person
    need not write; an empty mapping for one with such values only."""
    implied: Mapping[Pattern, object | Callable[[Body, Body], object]] = {}
    """By route: the value that changes nothing because a missing field means the same, also as a function of the object
    and the mapping with the field; an empty mapping for one with such values only. The number of pods of `counts`,
    `suspend` and the fields of pods are not repeated."""
    filled: tuple[FilledField, ...] = ()
    """Fields that are added to its objects in a cluster."""
    updates: Updates | None = None
    """Changes of an existing object that the API server accepts; None if it accepts all."""
    derived: tuple[DerivedName, ...] = ()
    """Names that the operator derives from the name of an object."""
    pod_index: tuple[str, ...] = ()
    """Fields of a pod, for the downward API, that together tell it from the other pods of its role."""
    pod_run: str = ""
    """Field of a pod with the name of the run that a schedule started."""
    max_name: int | None = None
    """Longest name; None if it depends on the object or only on Kubernetes."""

    def __str__(self) -> str:
        return f"{self.group}/{self.kind}" if self.group else self.kind

    @property
    def noun(self) -> str:
        """`a Volcano Job`, `an Experiment`."""
        return with_article(self.title or self.kind)

    @property
    def served(self) -> tuple[str, ...]:
        """Facts that an overlay can state about its cluster, best first: releases if they differ, or API versions."""
        return tuple(self.releases or self.versions)

    @property
    def of_pods(self) -> Resource:
        """The kind that has the pods: this one, or the one that the operator makes from its objects."""
        return self.nodes.made if self.nodes is not None else self

    def api_version(self, served: str) -> str:
        return self.releases.get(served, served)

    @property
    def instead_of_suspension(self) -> str:
        """The remedy for `state: suspended` of a job, if the kind has no field that suspends it."""
        return "remove `state`" if self.is_definition else "write `state: stopped` instead, as `gen stop` does"

    @property
    def is_workflow(self) -> bool:
        """Whether Argo Workflows creates the objects of its steps."""
        return bool(self.steps) and not self.is_definition

    @property
    def is_workload(self) -> bool:
        """Whether an object is a run, or a schedule or definition of runs."""
        return self.is_run or self.is_schedule or self.is_definition

    @property
    def key(self) -> tuple[str, str]:
        return self.group, self.kind


def retired(instead: str, *versions: str, removed: bool = True) -> dict[str, RetiredVersion]:
    """API versions of an operator that were replaced by another one."""
    return dict.fromkeys(versions, RetiredVersion(instead=instead, removed=0 if removed else None))


class Trial(Struct, frozen=True, kw_only=True, eq=False):
    """How Katib finds the pod of a trial that prints the metrics."""

    index: Mapping[str, str] = field(default_factory=dict)
    """Labels of the operator for the first pod of a role."""
    role_label: str = ""
    """Label of the operator with the role; empty if gen labels the pods with it."""
    roles: Path = ()
    """Roles that can have rank 0, the first choice first. Empty for the order of the object."""


class Held(Struct, frozen=True, kw_only=True, eq=False):
    """An object of another kind that an object makes several times."""

    route: Path
    at_once: Path
    """Route of the number that exist at the same time."""
    in_all: Path
    """Route of the number that are made in all."""
    ended: tuple[Path, ...] = ()
    """Routes of the numbers of those that have ended."""


class Updates(Struct, frozen=True, kw_only=True, eq=False):
    """Changes of the `spec` of an existing object that the API server accepts. It rejects all others."""

    mutable: tuple[tuple[str, ...], ...] = ()
    added_once: tuple[tuple[str, ...], ...] = ()
    """Immutable fields of objects that have them; other objects can get them."""
    growing: tuple[str, ...] | None = None
    """A quantity that may grow."""
    fixed_with: tuple[str, ...] | None = None
    """A field with which that quantity is immutable, too."""
    empty_is_missing: bool = False
    """Whether empty fields equal missing ones. Otherwise the server sets missing fields, but not empty ones."""
