"""Context of a plan in the making: inputs and small helpers that all parts of the plan stage share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct

from gen.base import Code, Findings, Location
from gen.job.kinds.base import Job
from gen.job.kinds.role import Role
from gen.job.model import alias_of
from gen.job.plan import PodPlan, StarterPlan
from gen.kubernetes.facts.base import Resource
from gen.overlay.grant import Grant
from gen.overlay.overlay import Overlay
from gen.pins.lock import RunPins
from gen.render.job_run import JobInput, JobRun

_TRAINING_ONLY = frozenset({"gpus", "cpu", "disk", "memory", "shared_memory"})
PROGRAM = frozenset({"command", "args"})


def has_own(role: Role, field: str) -> bool:
    """Whether the job sets a field for the role itself."""
    return role.fields is not None and field in role.fields.model_fields_set


def role_value(job: Job, role: Role, field: str) -> Any:
    """Value of a field for a role: its own, or the job's if that applies to the role."""
    if has_own(role, field):
        return getattr(role.fields, field)
    if not role.trains and field in _TRAINING_ONLY:
        return None
    return getattr(job, field)


class Context(Struct, frozen=True, dict=True):
    """One run in one overlay, while its plan is made."""

    run: JobRun
    overlay: Overlay
    grant: Grant
    object_name: str
    """Name of the run's objects."""
    found: Findings
    pins: RunPins
    starter: type[StarterPlan] = StarterPlan

    @cached_property
    def given(self) -> JobInput:
        return self.run.given

    @property
    def name(self) -> str:
        """Name of the run without the hash."""
        return self.run.name

    @cached_property
    def job(self) -> Job:
        return self.run.given.job

    @property
    def object_facts(self) -> Resource:
        return self.starter.resource(self.job.facts)

    def place(self, *route: str | int, key: bool = False) -> Location:
        return self.given.place(*route, key=key)

    def error(self, code: Code, route: Iterable[str | int], message: str, hint: str, *, key: bool = False) -> None:
        self.found.error(code, self.place(*route, key=key), message, hint)

    def of_role(self, role: Role, field: str) -> Any:
        """`role_value` for this job."""
        return role_value(self.job, role, field)

    def takes(self, role: Role, field: str) -> bool:
        """Whether a role takes the value of the job."""
        if has_own(role, field) or (not role.trains and field in _TRAINING_ONLY):
            return False
        return role.runs or field not in PROGRAM

    def route_of(self, role: Role, field: str) -> tuple[str, ...]:
        """Route of that value in the job."""
        alias = alias_of(type(self.job), field)
        return ("roles", role.name, alias) if has_own(role, field) else (alias,)

    def set_by_job(self, route: Iterable[str | int]) -> bool:
        """Whether the job file sets the value, and not the defaults of the overlay."""
        return self.place(*route).file == self.given.source.file


def first_pod(facts: Resource, pods: Sequence[PodPlan]) -> PodPlan | None:
    """The pods of the role with rank 0: the metrics are in its log."""
    running = [pod for pod in pods if pod.role.runs]
    roles = facts.trial.roles if facts.trial is not None else ()
    ranked = [pod for role in roles for pod in running if pod.role.replica_type == role]
    return next(iter([*ranked, *running]), None)
