"""The schedule of a job: its times, and the fields that a job with many runs cannot have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.findings.grants import NO_PIPELINES
from gen.findings.jobs import INVALID_EXPRESSION, INVALID_VALUE
from gen.kinds.schedule_plan import SchedulePlan
from gen.kubernetes import RUN, TRIAL
from gen.model.base import default_of
from gen.render.plan.placeholders import is_free, is_path
from gen.render.record import KFP
from gen.rules.cron_syntax import at_once, never_comes
from gen.rules.cron_values import ZONED, schedule_fault, time_zone_fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Route
    from gen.model.schedule import Schedule
    from gen.render.plan.context import Context

_FIELD = "schedule"
_SHORTEST_DEADLINE = 10
"""The controller looks for missed times every ten seconds (Kubernetes documentation, "CronJob limitations")."""
ONCE = {
    "files": (
        "the ConfigMap of an earlier version would be removed while a run needs it",
        "put the files into the image or on a volume",
    ),
    "attempt": ("it runs at each time of the schedule", "remove `attempt`"),
}
"""Fields of jobs that run once, each with the reason and the remedy."""


def plan_schedule(context: Context) -> SchedulePlan | None:
    """None for a job that runs once, and for a schedule that the kind cannot have, which is reported elsewhere."""
    job = context.job
    facts = job.facts.scheduled_by
    wanted = job.times
    if wanted is None or facts is None or context.object_facts.is_definition:
        return None
    argo = context.overlay.argo
    if facts.is_workflow and argo is None:
        message = f"overlay `{context.overlay.name}` has no `pipelines`, which start jobs of `kind: {job.kind}`"
        hint = "add `pipelines: {argo: {serviceAccount: …}}` to the overlay, or use `kind: batch`"
        context.error(NO_PIPELINES, (_FIELD,), message, hint, key=True)
    valid = _check_times(context, wanted, ("cron",) if wanted is job.schedule else ())
    _check_job(context)
    allowed = wanted.concurrency == "Allow" and valid
    return SchedulePlan(
        facts=facts,
        cron=wanted.cron,
        time_zone=wanted.time_zone,
        concurrency=wanted.concurrency,
        deadline=wanted.deadline,
        succeeded=wanted.history.succeeded,
        failed=_failed_runs(context, wanted) if facts.is_workflow else wanted.history.failed,
        at_once=_overlapping(context, wanted) if allowed else 1,
        account=argo.service_account if facts.is_workflow and argo is not None else "",
    )


def _check_times(context: Context, wanted: Schedule, route: Route) -> bool:
    """Whether the times are valid."""
    fault = schedule_fault(wanted.cron)
    if fault is not None:
        zoned = ZONED.fullmatch(wanted.cron)
        hint = f'write `schedule: {{cron: "{zoned[2]}", timeZone: {zoned[1]}}}`' if zoned else fault.hint
        context.error(INVALID_VALUE, (_FIELD, *route), fault.message, hint)
    elif never_comes(wanted.cron):
        message = f"`{wanted.cron}` never comes, because no month in it has the day"
        context.error(INVALID_VALUE, (_FIELD, *route), message, "correct the day, the third field, or the month")
        return False
    if (zone := time_zone_fault(wanted.time_zone)) is not None:
        context.error(INVALID_VALUE, (_FIELD, "timeZone"), zone.message, zone.hint)
    if wanted.deadline < _SHORTEST_DEADLINE:
        message = f"`deadline` is shorter than {_SHORTEST_DEADLINE}s, so that runs may never start"
        context.error(INVALID_VALUE, (_FIELD, "deadline"), message, "write a longer one, such as `10m`")
    return fault is None


def _failed_runs(context: Context, wanted: Schedule) -> int:
    """The failed workflows to keep. One that was replaced has failed, and keeps the objects of its steps, which go on:
    `terminateOutstandingWorkflows` in `workflow/cron/operator.go` of Argo Workflows ends only its own pods.
    """
    kept = wanted.history.failed
    if wanted.concurrency != "Replace":
        return kept
    if kept and "failed" in wanted.history.model_fields_set:
        message = "a job with `concurrency: Replace` cannot keep failed runs: a run that was replaced would go on"
        hint = "remove `failed`, or use `concurrency: Forbid`"
        context.error(INVALID_VALUE, (_FIELD, "history", "failed"), message, hint)
    return 0


def _check_job(context: Context) -> None:
    job = context.job
    for field, (reason, hint) in ONCE.items():
        if getattr(job, field) != default_of(type(job), field):
            message = f"a job with a `schedule` cannot have `{field}`: {reason}"
            context.error(INVALID_VALUE, (field,), message, hint, key=True)
    if job.state == "finished":
        message = "a job with a `schedule` cannot be `finished`: it would go on in the cluster"
        context.error(INVALID_VALUE, ("state",), message, "write `state: suspended`, or remove the job file")
    check_run_names(context)


def check_run_names(context: Context) -> None:
    """Names of the run in places where they must be known."""
    data = {name: value for name, value in context.given.data.items() if name != "steps"}
    route = next(_with(RUN, data, ()), None)
    if route is not None and TRIAL in context.object_name:
        message = f"`run.hash` has no value {_where(context)}"
        more = "" if context.run.later == KFP else " with its time"
        context.error(INVALID_EXPRESSION, route, message, f"use `run.id`, which is the name of the run{more}")
    elif route is not None:
        message = f"`run` has no value {_where(context)}"
        hint = "use the variable `JOB_NAME` instead of `run`, such as `$JOB_NAME` in a command of the shell"
        context.error(INVALID_EXPRESSION, route, message, hint)
    route = next((route for route in _with(TRIAL, data, ()) if not (is_free(route) or is_path(route))), None)
    if route is not None:
        message = "`run.id` is the name of a run, which is not known here"
        if context.run.later != KFP:
            message = "`run.id` is the name of a run with its time, which is not known here"
        hint = "use it in `command`, `args`, `env`, `subPath` or `logdir`"
        context.error(INVALID_EXPRESSION, route, message, hint)


def _where(context: Context) -> str:
    if context.run.later == KFP:
        return "in a pipeline with `kfp`, which can have many runs"
    return "in a job with a `schedule`, which has a run at each time"


def _with(mark: str, value: Any, route: Route) -> Iterator[Route]:
    """Routes of the strings that contain a placeholder."""
    if isinstance(value, str):
        if mark in value:
            yield route
        return
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield from _with(mark, inner, (*route, key))


def _overlapping(context: Context, wanted: Schedule) -> int:
    """Runs that can overlap: as many as start within the time limit of one."""
    if context.job.own_fields:
        message = "a pipeline cannot have `concurrency: Allow`, because nothing limits its run time as a whole"
        context.error(INVALID_VALUE, (_FIELD, "concurrency"), message, "remove `concurrency`, or use `Replace`")
        return 1
    if context.job.timeout is None:
        message = "`concurrency: Allow` needs a `timeout`, without which any number of runs could overlap"
        context.error(INVALID_VALUE, (_FIELD, "concurrency"), message, "add `timeout`, such as `timeout: 1h`")
        return 1
    return at_once(wanted.cron, context.job.timeout)
