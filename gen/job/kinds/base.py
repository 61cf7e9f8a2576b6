"""The interface of a kind of job: the fields that its authors write, and the object that is rendered from them.

A kind defines only what differs from other kinds. Pods, volumes, TensorBoard, labels and names are the same for all
kinds and are built elsewhere; a kind never writes a container. Facts of the rendered Kubernetes kind are in
`gen.kubernetes.facts`.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, Final

from msgspec import Struct

from gen.base import Route
from gen.job.fields import JobFields, Schedule
from gen.job.kinds.role import Role, Target
from gen.job.model import Model
from gen.job.plan import Plan
from gen.kubernetes.facts.base import Pattern, Resource
from gen.kubernetes.facts.pods import longest_time
from gen.kubernetes.facts.runtimes import Runtime
from gen.kubernetes.objects import Body, present

DEFAULT_CONTAINER: Final = "trainer"
"""Name of the training container if the operator accepts any name."""


class Problem(Struct, frozen=True):
    """A fault of a job that only its kind can detect."""

    route: Route
    message: str
    hint: str
    key: bool = False
    """Whether the key at the route is wrong, and not its value."""
    no_effect: bool = False
    """Whether the value is valid, but has no effect. It is then reported only if the job file sets it: a default of the
    overlay is for other jobs, too."""


def unused_workers(job: JobFields, roles: Mapping[str, Model], name: str, number: str) -> Iterator[Problem]:
    """The problem of `workers` that decides no number of pods: a role is missing, or has a number of its own.

    `number` is the field of the role with its number of pods.
    """
    role = roles.get(name)
    if "workers" in job.model_fields_set and role is None:
        hint = f"set `{number}` of the roles, or add the role `{name}`"
        yield Problem(("workers",), f"`workers` has no effect without a role `{name}`", hint, no_effect=True)
    elif "workers" in job.model_fields_set and getattr(role, number) is not None:
        message = f"`workers` has no effect together with `roles.{name}.{number}`"
        yield Problem(("workers",), message, "remove one of the two", no_effect=True)


class Job(JobFields, ABC):
    """A job of one kind. The class attributes hold for every job of the kind."""

    facts: ClassVar[Resource]
    """Facts of the Kubernetes kind that is rendered."""
    copied: ClassVar[Mapping[str, Pattern]] = {}
    """Routes of the object with values that fields of the job have as they are, for importing it. A field of a role
    is written as `roles.*.<field>`, and its route has one wildcard, or leads to the only template of the role."""
    without: ClassVar[Mapping[str, object]] = {}
    """Fields of `copied` with a default in a job, and their values in an object without them."""
    called: ClassVar[tuple[str, ...]] = ()
    """Names of other tools for the kind, in lower case, for hints."""
    keeping: ClassVar[str] = ""
    """Job field, as authors write it, that lets pods run after the end of the run."""
    reserved_env: ClassVar[frozenset[str]] = frozenset()
    """Environment variables that the operator sets: it would override a user's value, or depend on it."""
    fixed_env: ClassVar[Mapping[str, str]] = {}
    """Environment variables that the operator sets to these values, which users often set to the same."""
    unsupported: ClassVar[Mapping[str, str]] = {}
    """Job fields, as authors write them, that the kind cannot express, each with the reason."""
    unsupported_before: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Job fields that releases of the operator cannot express, by release."""
    used_ports: ClassVar[Mapping[int, str]] = {}
    """Ports of the pods that another program listens on, by its name."""
    read_ports: ClassVar[Mapping[str, int]] = {}
    """Ports that the operator finds by their names, with its defaults."""
    offers_ports: ClassVar[bool] = False
    """Whether the operator makes a Service of all ports of a pod."""
    since_retired: ClassVar[str] = ""
    """What the pods of an object of a retired version need besides in the current one, for a report."""
    run_by_operator: ClassVar[Mapping[str, str]] = {}
    """Programs with their subcommands that the operator runs itself, each with the remedy for a command with them."""
    uses_host_network: ClassVar[bool] = True
    """Whether the pods of the kind can use the network of their nodes."""
    arena: ClassVar[str] = ""
    """Name of the kind in the client of Arena; empty if it has none."""
    adds_containers: ClassVar[bool] = True
    """Whether gen writes all containers of the pods."""
    needs_image: ClassVar[bool] = True
    """Whether the job must name the image of its pods."""
    own_fields: ClassVar[frozenset[str]] = frozenset()
    """Fields of a job with steps that are not defaults for its steps. Empty for kinds without steps."""
    proven: ClassVar[bool] = True
    """Whether tests show that the objects of the kind conform to its rules, so that a render need not check them."""
    example: ClassVar[Mapping[str, object]]
    """The fields of a small job of this kind, for `gen new`."""

    @classmethod
    def main_container(cls) -> str:
        """Name of the training container."""
        return cls.facts.container or DEFAULT_CONTAINER

    @classmethod
    def unsupported_fields(cls) -> Mapping[str, str]:
        """`unsupported`, with the fields that the facts of the rendered kind rule out."""
        a_kind = cls.facts.noun
        missing = {}
        if cls.facts.deadline is None:
            missing["timeout"] = f"{a_kind} has no field that limits its run time"
        if cls.facts.scheduled_by is None:
            missing["schedule"] = "Argo Workflows has no condition for the end of a run"
        if cls.facts.trial is None:
            missing["search"] = f"no pod of {a_kind} has the metrics of a trial in its log"
        return {**missing, **cls.unsupported}

    @classmethod
    def modern(cls, body: Body) -> Body:
        """An object of this kind in the form of its current API version, to import objects of retired ones."""
        return body

    @classmethod
    def with_container_names(cls, body: Body) -> Body:
        """An object whose operator finds the training containers by the name that they have in a job."""
        return body

    @classmethod
    def changes(cls, body: Body) -> Iterable[tuple[Route, str, str]]:
        """What an object does in another way in the form of `modern`: routes, problems and remedies."""
        return ()

    @classmethod
    def obstacles(cls, body: Body) -> Iterable[tuple[Route, str, str]]:
        """Why the pods of an object cannot run in the form of `modern`: routes, problems and remedies."""
        return ()

    @classmethod
    def read_counts(cls, spec: Body) -> Mapping[str, object]:
        """Fields of an imported job that no route of `copied` or of the facts gives, from the `spec` of its object."""
        return {}

    @classmethod
    def absent_files(cls, version: str) -> Mapping[str, str]:
        """Files that pods of another API version or operator have, and those of this version do not, with remedies."""
        return {}

    @classmethod
    def as_written(cls, field: str, value: object) -> object:
        """A value of `copied` as authors write the field, such as `30s` for a number of seconds; None for a default."""
        return value

    def secrets(self) -> Iterable[tuple[tuple[str, ...], str]]:
        """Secrets in fields of the kind itself, with the routes of these fields."""
        return ()

    def arena_labels(self, role: str) -> Mapping[str, str]:
        """Labels that the client of Arena needs to find the pods of a role."""
        return {}

    @property
    def times(self) -> Schedule | None:
        """The schedule in its long form."""
        return Schedule(cron=self.schedule) if isinstance(self.schedule, str) else self.schedule

    @property
    def independent(self) -> bool:
        """Whether its pods are independent tasks."""
        return False

    def slots(self, gpus: Mapping[str, int]) -> int | None:
        """Processes that an MPI launcher starts by default, by the GPUs of each role; None without such a launcher."""
        return None

    @property
    def processes(self) -> tuple[str, int] | None:
        """The field, as authors write it, with the processes that launchers start on each pod, and its number."""
        return None

    @property
    def kept_time(self) -> int | None:
        """Seconds for which pods may run after the end of the run; None for unlimited."""
        return 0

    @property
    def deleting(self) -> str:
        """The field, with its value, that deletes pods with their logs at the end of the run; empty without one."""
        return ""

    @property
    def resizing(self) -> str:
        """The field that lets a run change its number of pods while a queue counts them; empty without one."""
        return ""

    @property
    def outlasting(self) -> str:
        """`keeping`, if pods of this job run after the end of the run; empty if all end with it."""
        return self.keeping if self.kept_time != 0 else ""

    @property
    def longest_time(self) -> int | None:
        """Seconds until the last pod has ended, in all attempts; None for unlimited."""
        attempts = 1 + (self.retries or 0) if self.facts.limits_attempt else 1
        return longest_time(self.timeout, attempts=attempts, kept=self.kept_time)

    @property
    def reserved(self) -> frozenset[str]:
        """`reserved_env`, for this job."""
        return self.reserved_env

    @property
    def given_env(self) -> frozenset[str]:
        """Variables that the operator sets: `reserved`, and those that the kind refuses by itself."""
        return self.reserved

    @property
    def runtime_key(self) -> tuple[str, str] | None:
        """Kind and name of the runtime in the cluster with the templates of the pods; None if gen writes them."""
        return None

    def outline(self, runtime: Runtime, resources: Mapping[str, str], accelerator: str) -> Body:
        """The parts of the object that decide the pods of a runtime. Their containers get the resources."""
        raise NotImplementedError

    @abstractmethod
    def replica_roles(self, run: str) -> tuple[Role, ...]:
        """Roles with at least one pod, in the order of the rendered object; `run` is the object's name."""

    def adapted(self, roles: tuple[Role, ...], target: Target) -> tuple[Role, ...]:
        """The roles with the changes that an operator or a network requires."""
        return roles

    @abstractmethod
    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
        """The `spec` of the object; `pods` has the finished pod template of each role."""

    def companions(self, plan: Plan) -> tuple[Body, ...]:
        """More objects of a run, with `apiVersion`, `kind`, `metadata.name` and their content."""
        return ()

    def origin(self, route: Route) -> Route | None:
        """The field of the job that a value of the object is copied from; None for values that gen computes."""
        return None

    def problems(self, target: Target) -> Iterable[Problem]:
        """Faults that the checks of single fields cannot detect."""
        return ()


def dumped(model: Model) -> Body:
    """The fields that are set, in Kubernetes' names."""
    return present(**model.model_dump(by_alias=True, mode="json"))
