"""What the runs of a job ask for, from its fields: pods, devices and costs."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gen.diagnostics import Findings
from gen.model.metric import known_metrics
from gen.render.plan.accelerators import device_name
from gen.render.plan.context import role_value
from gen.resources.antichain import widest
from gen.resources.cost import run_cost
from gen.resources.demand import Demand, joined
from gen.rules.cron_month import overlapping, runs_a_month

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gen.model.metric import KnownMetric
    from gen.overlay.overlay import Overlay
    from gen.render.job_run import ExpandedStep
    from gen.render.parse.job import JobInput, WrittenJob
    from gen.resources.cost import RunCost

TIMES: Final = frozenset({"timeout", "retries", "cleanup", "keepCluster", "schedule"})
"""Fields that only costs depend on."""


class Asked(Struct, frozen=True):
    """What one run asks for."""

    job: JobInput
    workers: int
    demand: Demand
    cost: RunCost | None
    """None in an overlay without prices."""
    step_metrics: Mapping[str, tuple[KnownMetric, ...]] = {}
    """The metrics of a pipeline's steps that have any."""

    def counts(self, state: object) -> bool:
        """Whether its pods may run in this state."""
        return state == "active" or (state == "suspended" and not self.job.job.object_facts.suspend_stops)


def sums(runs: Sequence[Asked], months: Sequence[Asked] | None = None) -> dict[str, Any]:
    """The sums over runs. `months` are those whose pods may run, if that differs between them."""
    if months is None:
        months = [one for one in runs if one.counts(one.job.job.state)]
    named = sum((Counter(one.demand.accelerators) for one in runs), Counter[str]())
    return {
        "workers": sum(one.workers for one in runs),
        "gpus": sum(one.demand.gpus for one in runs),
        "accelerators": {name: count for name, count in named.items() if count},
        "costs": tuple(one.cost for one in runs if one.cost is not None),
        "step_metrics": runs[0].step_metrics if runs else {},
        "month": sum(one.cost.month for one in months if one.cost is not None),
    }


def asked_by(written: WrittenJob, job: JobInput) -> Asked:
    steps = _steps(written, job)
    workers, asked = _widest(steps, written.overlay) if steps else _counts(job, written.overlay)
    metrics = {step.name: known_metrics(of.job.metrics) for step, of in steps if of.job.metrics}
    prices = written.overlay.prices if written.overlay is not None and not job.left_out & TIMES else None
    if prices is None:
        return Asked(job, workers, asked, None, metrics)
    schedule = job.job.times
    if schedule is None or job.job.facts.scheduled_by is None:
        return Asked(job, workers, asked, run_cost(asked, prices), metrics)
    at_once = overlapping(schedule.cron, asked.seconds, allowed=schedule.concurrency == "Allow")
    a_month = Fraction(at_once) if job.job.state == "suspended" else runs_a_month(schedule.cron)
    cost = run_cost(asked, prices, at_once=at_once, a_month=a_month)
    return Asked(job, workers, asked, cost, metrics)


def _steps(written: WrittenJob, job: JobInput) -> list[tuple[ExpandedStep, JobInput]]:
    """The steps of a pipeline that can be read."""
    if not job.job.own_fields:
        return []
    from gen.render.steps.runs import step_runs  # noqa: PLC0415 - most jobs have no steps

    steps = step_runs(written, job, job.name, Findings())
    return [(step, step.run.given) for step in steps if step.run is not None]


def _widest(steps: Sequence[tuple[ExpandedStep, JobInput]], overlay: Overlay | None) -> tuple[int, Demand]:
    """The most that the steps of a pipeline have at once."""
    counts = {step.name: _counts(given, overlay) for step, given in steps}
    needs = {step.name: frozenset(step.order.needs) for step, _ in steps}
    workers = widest(needs, {step: most for step, (most, _) in counts.items()})
    return workers, joined(needs, {step: asked for step, (_, asked) in counts.items()})


def _counts(job: JobInput, overlay: Overlay | None) -> tuple[int, Demand]:
    """Training pods, and the demand."""
    fields = job.job
    roles = fields.replica_roles(job.name)
    named: Counter[str] = Counter()
    gpus = 0
    for role in roles:
        asked = (role_value(fields, role, "gpus") or 0) * role.most
        gpus += asked
        if asked and (name := device_name(fields, role, overlay)):
            named[name] += asked
    one = Demand(sum(role.most for role in roles), gpus, fields.longest_time, dict(named))
    workers = sum(role.most for role in roles if role.trains)
    if fields.search is None:
        return workers, one
    at_once = fields.search.parallel_trials
    return at_once * workers, one.repeated(at_once, fields.search.max_trials)
