"""Schedules: the times of runs, and the fields that a job with many runs cannot have.

A schedule keeps its name, and an edit changes it in place: the runs belong to it, so removing it would stop them, and
an edit concerns later runs only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import ClassVar, Final, Self

from gen.base import Route, at
from gen.base.codes.jobs import INVALID_SCHEDULE, INVALID_VALUE
from gen.base.yaml.strict import Data
from gen.job.fields import Schedule
from gen.job.kinds.base import Job
from gen.job.plan import Edit, PodPlan
from gen.job.queue import QueueProfile
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.demand import Demand
from gen.kubernetes.facts.state import conditions
from gen.kubernetes.objects import Body
from gen.kubernetes.rules.cron import (
    ZONED,
    at_once,
    never_comes,
    overlapping,
    runs_a_month,
    schedule_fault,
    time_zone_fault,
)
from gen.overlay.costs import Prices, RunCost, run_cost
from gen.render.emit import SCHEDULE
from gen.render.parts.context import Context
from gen.render.starters.base import Starter
from gen.render.starters.start_values import FILES, check_run_names, once_only

_SHORTEST_DEADLINE = 10
"""The controller looks for missed times every ten seconds (Kubernetes documentation, "CronJob limitations")."""
_ONCE: Final = {"files": FILES, "attempt": ("it runs at each time of the schedule", "remove `attempt`")}
"""Fields of jobs that run once, each with the reason and the remedy."""


class ScheduleStarter(Starter, frozen=True, kw_only=True):
    """A starter with the times of `schedule`."""

    field: ClassVar[str] = SCHEDULE
    edit: ClassVar[Edit] = Edit.IN_PLACE
    repeats: ClassVar[bool] = True
    admitted: ClassVar[bool] = False
    whole: ClassVar[str] = "schedule"
    digits: ClassVar[str] = "time"
    where: ClassVar[str] = "in a job with a `schedule`, which has a run at each time"

    cron: str
    time_zone: str
    concurrency: str
    deadline: int
    succeeded: int
    failed: int
    account: str = ""
    """ServiceAccount of the workflows that start the runs; empty if none are needed."""

    @classmethod
    def resource(cls, facts: Resource) -> Resource:
        return facts.scheduled_by or facts

    @classmethod
    def starts(cls, model: type[Job], data: Mapping[str, Data]) -> bool:
        return SCHEDULE in data

    @classmethod
    def queue_fault(cls, profile: QueueProfile, facts: Resource, api_version: str) -> str:
        return "" if profile.suspends else f"it groups the pods of one run, and a `{SCHEDULE}` has many runs"

    @classmethod
    def makes(cls, resource: Resource) -> bool:
        return resource.is_schedule

    @classmethod
    def plan(cls, context: Context, api_version: str, pods: Sequence[PodPlan]) -> Self | None:
        """None for a kind that cannot have a schedule, which is reported elsewhere."""
        job, facts = context.job, context.job.facts.scheduled_by
        wanted = job.times
        if wanted is None or facts is None:
            return None
        account = cls._account(context)
        valid = _check_times(context, wanted, ("cron",) if wanted is job.schedule else ())
        _check_job(context, cls)
        allowed = wanted.concurrency == "Allow" and valid
        return cls(
            facts=facts,
            cron=wanted.cron,
            time_zone=wanted.time_zone,
            concurrency=wanted.concurrency,
            deadline=wanted.deadline,
            succeeded=wanted.history.succeeded,
            failed=cls._failed_runs(context, wanted),
            at_once=_overlapping(context, wanted) if allowed else 1,
            account=account,
        )

    @classmethod
    def _account(cls, context: Context) -> str:
        """`account`. Reports an overlay that cannot start runs."""
        return ""

    @classmethod
    def _failed_runs(cls, context: Context, wanted: Schedule) -> int:
        """The failed runs to keep."""
        return wanted.history.failed

    @classmethod
    def cost(cls, job: Job, demand: Demand, prices: Prices) -> RunCost:
        times = job.times
        if times is None or job.facts.scheduled_by is None:
            return super().cost(job, demand, prices)
        most = overlapping(times.cron, demand.seconds, allowed=times.concurrency == "Allow")
        a_month = Fraction(most) if job.state == "suspended" else runs_a_month(times.cron)
        return run_cost(demand, prices, at_once=most, a_month=a_month)

    @classmethod
    def rate(cls, spec: object, demand: Demand, *, active: bool) -> tuple[int, Fraction]:
        several = at(spec, "schedules")
        cron = several[0] if isinstance(several, list) and several else at(spec, "schedule")
        most = overlapping(cron, demand.seconds, allowed=at(spec, "concurrencyPolicy") == "Allow")
        # a suspended one starts no more, and those that it has started go on
        return most, runs_a_month(cron) if active else Fraction(most)

    @classmethod
    def trouble(cls, resource: Resource, live: Body) -> tuple[str, str]:
        held = (one for one in conditions(live) if one.get("type") in resource.troubles and one.get("status") == "True")
        return next(((str(one["type"]), str(one.get("message") or "")) for one in held), ("", ""))


def _check_times(context: Context, wanted: Schedule, route: Route) -> bool:
    """Whether the times are valid."""
    fault = schedule_fault(wanted.cron)
    if fault is not None:
        zoned = ZONED.fullmatch(wanted.cron)
        hint = f'write `schedule: {{cron: "{zoned[2]}", timeZone: {zoned[1]}}}`' if zoned else fault.hint
        context.error(INVALID_SCHEDULE, (SCHEDULE, *route), fault.message, hint)
    elif never_comes(wanted.cron):
        message = f"`{wanted.cron}` never comes, because no month in it has the day"
        context.error(INVALID_SCHEDULE, (SCHEDULE, *route), message, "correct the day, the third field, or the month")
        return False
    if (zone := time_zone_fault(wanted.time_zone)) is not None:
        context.error(INVALID_SCHEDULE, (SCHEDULE, "timeZone"), zone.message, zone.hint)
    if wanted.deadline < _SHORTEST_DEADLINE:
        message = f"`deadline` is shorter than {_SHORTEST_DEADLINE}s, so that runs may never start"
        context.error(INVALID_SCHEDULE, (SCHEDULE, "deadline"), message, "write a longer one, such as `10m`")
    return fault is None


def _check_job(context: Context, starter: type[ScheduleStarter]) -> None:
    job = context.job
    for field, message, hint in once_only(job, _ONCE, "a job with a `schedule`"):
        context.error(INVALID_VALUE, (field,), message, hint, key=True)
    if job.state == "finished":
        message = "a job with a `schedule` cannot be `finished`: it would go on in the cluster"
        context.error(INVALID_VALUE, ("state",), message, "write `state: stopped` or `state: suspended`")
    check_run_names(context, starter)


def _overlapping(context: Context, wanted: Schedule) -> int:
    """Runs that can overlap: as many as start within the time limit of one."""
    if context.job.own_fields:
        message = "a pipeline cannot have `concurrency: Allow`, because nothing limits its run time as a whole"
        context.error(INVALID_VALUE, (SCHEDULE, "concurrency"), message, "remove `concurrency`, or use `Replace`")
        return 1
    if context.job.timeout is None:
        message = "`concurrency: Allow` needs a `timeout`, without which any number of runs could overlap"
        context.error(INVALID_VALUE, (SCHEDULE, "concurrency"), message, "add `timeout`, such as `timeout: 1h`")
        return 1
    return at_once(wanted.cron, context.job.timeout)
