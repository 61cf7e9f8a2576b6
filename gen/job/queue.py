"""Base classes of the schedulers of queues: their requirements on the objects and pods of a run."""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Annotated, ClassVar, Self

from msgspec import Struct, field
from pydantic import Field

from gen.job.names import ObjectName
from gen.job.profile import Profile
from gen.job.scalars import Positive
from gen.kubernetes.facts.base import Group, Path, Resource
from gen.kubernetes.objects import Body

PriorityClassName = Annotated[ObjectName, Field(max_length=63)]
"""Name of an object that is also the value of a label."""


class Refusal(Struct, frozen=True):
    """Why a scheduler cannot run the jobs of a kind."""

    reason: str
    """Completes `queue … cannot take a …:`."""
    remedy: str


class Member(Struct, frozen=True, kw_only=True):
    """The pods of one role."""

    role: str
    least: int
    """Pods that must start together."""
    grouped: bool
    """Whether they start with those of the other roles."""
    template: Body


class Run(Struct, frozen=True, kw_only=True):
    """A run that a scheduler queues."""

    facts: Resource
    api_version: str
    name: str
    """Name of the object."""
    priority: str | None
    """PriorityClass of the pods."""
    members: tuple[Member, ...]
    autoscaled: bool = False
    """Whether an autoscaler changes the number of its pods."""

    @property
    def pods(self) -> int:
        """Pods that must start together."""
        return sum(member.least for member in self.members if member.grouped)


class PodChanges(Struct, frozen=True, kw_only=True):
    """Changes to a pod template."""

    scheduler: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


class QueueProfile(Profile, ABC):
    """A queue of one scheduler."""

    suspends: ClassVar[bool] = False
    """Whether it keeps runs suspended until it admits them, and changes their templates then."""
    keys: ClassVar[tuple[str, ...]] = ()
    """Labels and annotations that the scheduler acts on; those with a prefix include all keys that start with them."""
    companions: ClassVar[tuple[Resource, ...]] = ()
    """Kinds of the objects that it adds to a run."""
    together: ClassVar[bool] = False
    """Whether the pods of a run are a group that its scheduler starts together."""

    @classmethod
    def named(cls, name: str) -> Self:
        """The queue with this name in the cluster, without settings."""
        return cls.model_validate({cls.short: name})

    @classmethod
    def acts_on(cls, key: str) -> bool:
        """Whether the scheduler acts on a label or annotation. Jobs and patches cannot change it."""
        return any(key == own or ("." in own and key.startswith(own)) for own in cls.keys)

    @property
    def resizes(self) -> bool:
        """Whether its runs may change their number of pods."""
        return False

    @property
    def queue_name(self) -> str | None:
        """Name of the queue in fields and labels of its scheduler."""
        return None

    @property
    def group_priority(self) -> str | None:
        """PriorityClass that the queue gives to groups of pods."""
        return None

    @property
    def scheduler_name(self) -> str | None:
        """Scheduler of the pods; None for the one that the pods have without the queue."""
        return None

    @property
    def one_domain(self) -> str | None:
        """Node label that must be equal for all pods of a role; None if they can be anywhere."""
        return None

    @property
    def labels(self) -> Mapping[str, str]:
        """Labels of all objects of a run."""
        return {}

    @classmethod
    @abstractmethod
    def unable(cls, facts: Resource, api_version: str) -> Refusal | None:
        """Why no queue of the scheduler can take the jobs of a kind; None if one can."""

    @classmethod
    def needs(cls, facts: Resource, api_version: str) -> str:
        """Required entry in the configuration of the scheduler or the operator for a kind; empty if there is none."""
        return ""

    @classmethod
    def operator_group(cls, facts: Resource, api_version: str) -> Group | None:
        """The group of pods that the operator of a kind makes for the scheduler."""
        return None

    def refusal(self, facts: Resource, api_version: str) -> Refusal | None:
        """Why this queue cannot take the jobs of a kind; None if it can."""
        return self.unable(facts, api_version)

    def values(self, run: Run) -> Mapping[Path, object]:
        """Values of the object, by their routes."""
        return {}

    def changes(self, run: Run, member: Member) -> PodChanges:
        """Changes to the pods of a role."""
        return PodChanges()

    def objects(self, run: Run) -> tuple[Body, ...]:
        """More objects of the run, with `apiVersion`, `kind`, `metadata.name` and their content."""
        return ()


class Gang(QueueProfile):
    """A scheduler that starts the pods of a run together. Each run is a group of pods."""

    together: ClassVar[bool] = True
    known_as: ClassVar[str]
    """Its name in the facts of kinds."""

    @property
    def settings(self) -> Mapping[str, object]:
        """Settings of a group other than its size, by their names in `Group.settings`."""
        return {}

    @property
    def least(self) -> int | None:
        """Pods that must start together, if the queue limits their number."""
        return None

    @classmethod
    def unable(cls, facts: Resource, api_version: str) -> Refusal | None:
        if facts.scheduler is not None and facts.scheduler != cls.known_as:
            reason = f"the operator schedules its pods with `{facts.scheduler}`"
            return Refusal(reason, f"use a queue with `{facts.scheduler}`, or another kind")
        if not facts.pods:
            reason = "its runtime in the cluster has the pods, and selects their scheduler"
            return Refusal(reason, "use a queue with `kueue`, or omit `queue` and set `podGroupPolicy` in the runtime")
        return None

    @classmethod
    def needs(cls, facts: Resource, api_version: str) -> str:
        group = cls.operator_group(facts, api_version)
        return "" if group is None else group.option

    def refusal(self, facts: Resource, api_version: str) -> Refusal | None:
        group = self.operator_group(facts, api_version)
        given = {**self.settings, "minAvailable": self.least} if group is not None else {}
        for name, value in given.items():
            if value is not None and group is not None and name not in group.settings:
                return Refusal(f"its operator has no setting for `{name}` of the queue", "use a queue without it")
        return self.unable(facts, api_version)

    @classmethod
    def operator_group(cls, facts: Resource, api_version: str) -> Group | None:
        served = (one for one in facts.groups if not one.versions or api_version in one.versions)
        return next((group for group in served if group.scheduler == cls.known_as), None)

    def size(self, run: Run) -> int:
        """Pods of a run that must start together."""
        return run.pods if self.least is None else min(self.least, run.pods)

    def values(self, run: Run) -> Mapping[Path, object]:
        group = self.operator_group(run.facts, run.api_version)
        if group is None:
            return {}
        given = {**self.of_run(run), "minAvailable": self.size(run)}
        return {group.settings[name]: value for name, value in given.items() if name in group.settings}

    def of_run(self, run: Run) -> Mapping[str, object]:
        """The settings of the group of a run that are set."""
        return {name: value for name, value in self.settings.items() if value is not None}

    def changes(self, run: Run, member: Member) -> PodChanges:
        if run.facts.scheduler is not None:
            return PodChanges()
        if self.operator_group(run.facts, run.api_version) is not None:
            return PodChanges(scheduler=self.scheduler_name)
        return self.joined(run, member)

    @abstractmethod
    def joined(self, run: Run, member: Member) -> PodChanges:
        """Changes to pods that join the group, if the operator does not make it."""

    def objects(self, run: Run) -> tuple[Body, ...]:
        return () if self.operator_group(run.facts, run.api_version) is not None else self.group(run)

    def group(self, run: Run) -> tuple[Body, ...]:
        """The group, if the operator does not make it."""
        return ()


class LimitedGang(Gang):
    """A gang scheduler with queues that can limit the pods of a run that must start together."""

    min_available: Positive | None = None
    """Pods of a run that must start together, or all if it has fewer. [default: all]"""

    @property
    def least(self) -> int | None:
        return self.min_available


def pod_group(kind: Resource, run: Run, spec: Body) -> Body:
    """The PodGroup of a run, of one of the schedulers."""
    (api_version,) = kind.versions
    return {"apiVersion": api_version, "kind": kind.kind, "metadata": {"name": run.name}, "spec": spec}
