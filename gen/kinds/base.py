"""The interface of a kind of job: the fields that its authors write, and what a cluster gets for them.

A kind states what differs. Pods, volumes, TensorBoard, labels and names are the same for all kinds and are made
elsewhere; a kind never writes a container.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from gen.kinds.role import Role
from gen.kubernetes import Body
from gen.model.job import JobFields

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.diagnostics import Route
    from gen.kinds.plan import Plan


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a job that only its kind can see."""

    route: Route
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Conditions:
    """The types of `status.conditions` by which an object tells what became of its run."""

    succeeded: str
    failed: str
    suspended: str
    known: bool = False
    """Whether Argo CD and Flux tell the health of such an object by themselves."""


class Job(JobFields, ABC):
    """A job of one kind. The class attributes say what is true for every job of the kind."""

    resource: ClassVar[str]
    """The Kubernetes kind that is rendered."""
    api_versions: ClassVar[Mapping[str, tuple[str, ...]]]
    """API versions that can be rendered, the default first, with the restart policies of each, default first."""
    container: ClassVar[str]
    """Name of the training container; operators look for it."""
    suspend: ClassVar[tuple[str, ...]]
    """Where the rendered object says that it is suspended."""
    templates: ClassVar[tuple[str, ...]]
    """Where its pod templates are; `*` is every role. A queue changes them when it admits the job."""
    conditions: ClassVar[Conditions]
    """What its operator says of a run, for the health checks of GitOps engines."""
    deadline: ClassVar[tuple[str, ...]]
    """Where the rendered object says after how many seconds it is ended."""
    reserved_env: ClassVar[frozenset[str]] = frozenset()
    """Environment that the operator sets, so that a user's value would be lost, or what relies on it would break."""
    example: ClassVar[Mapping[str, object]]
    """The fields of a small job of this kind, for `gen new`."""

    @abstractmethod
    def replica_roles(self, run: str) -> tuple[Role, ...]:
        """The roles that have pods, in the order in which the object lists them; `run` is the object's name."""

    @abstractmethod
    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
        """The `spec` of the object around finished pod templates, which are given by role name."""

    @classmethod
    @abstractmethod
    def pods_of(cls, spec: Body) -> Iterable[tuple[Any, Any]]:
        """`workload`, read back: for each role the number of its pods and their template.

        Somebody may have edited the object by hand, so either can be anything, or None.
        """

    def companions(self, plan: Plan) -> tuple[Body, ...]:  # noqa: ARG002 - most kinds need none
        """Further objects of a run, with `apiVersion`, `kind`, `metadata.name` and their content."""
        return ()

    def problems(self, api_version: str) -> Iterable[Problem]:  # noqa: ARG002 - most kinds see none
        """What is wrong with the job in ways that its fields alone do not show."""
        return ()
