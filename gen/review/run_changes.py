"""Read the runs in two rendered trees, and report changes that have no effect, or an unwanted one, in a cluster."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from gen.diagnostics import Location
from gen.findings.rendered import NEVER_RAN, RUN_EDITED, UNKNOWN_USAGE
from gen.kubernetes import at, queue_in
from gen.resources import held_object
from gen.resources.content import content
from gen.resources.cost import run_cost
from gen.resources.demand import Demand, demand
from gen.resources.engines import is_finished
from gen.resources.preemption import preempting_classes
from gen.resources.step_demand import step_demands
from gen.review.matching import workload
from gen.review.runs import RunChange, RunState, RunVersion
from gen.rules.cron_month import overlapping, runs_a_month

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.diagnostics import Findings
    from gen.overlay.overlay import Overlay
    from gen.resources.base import Resource
    from gen.resources.demand import Units
    from gen.resources.step_demand import StepDemand
    from gen.review.matching import Pair
    from gen.review.rendered_object import RenderedObject


def run_changes(pairs: Iterable[Pair], overlays: Mapping[str, Overlay], found: Findings) -> tuple[RunChange, ...]:
    """The runs among the objects, with findings about their changes."""
    runs = tuple(_run(pair, overlays, found) for pair in pairs if pair.workload is not None)
    for run in runs:
        _check(run, found)
    return runs


def _run(pair: Pair, overlays: Mapping[str, Overlay], found: Findings) -> RunChange:
    before = None if pair.before is None else _version(pair.before, overlays, found)
    after = before if pair.after is pair.before else None
    if pair.after is not None and after is None:
        after = _version(pair.after, overlays, found)
    return RunChange(pair, pair.object.job, before, after, edited=_edited(pair))


def _version(run: RenderedObject, overlays: Mapping[str, Overlay], found: Findings) -> RunVersion:
    kind = workload(run)
    assert kind is not None  # noqa: S101 - called for runs only
    overlay = overlays.get(run.key.scope)
    units = overlay.device_units if overlay is not None else {}
    state = RunState.FINISHED if is_finished(run.metadata) else RunState.ACTIVE
    if state is RunState.ACTIVE and kind.suspend is not None and at(run.outline, *kind.suspend) is True:
        state = RunState.SUSPENDED
    queue = queue_in(run.metadata.get("labels")) or queue_in(at(held_object(run.outline), "metadata", "labels"))
    asked, at_once, a_month = _demand(run, kind, units, found), 1, Fraction(1)
    if kind.is_schedule:
        spec = at(run.outline, "spec")
        several = at(spec, "schedules")
        cron = several[0] if isinstance(several, list) and several else at(spec, "schedule")
        at_once = overlapping(cron, asked.seconds, allowed=at(spec, "concurrencyPolicy") == "Allow")
        # a suspended one starts no more, and those that it has started go on
        a_month = runs_a_month(cron) if state is RunState.ACTIVE else Fraction(at_once)
    prices = overlay.prices if overlay is not None else None
    cost = run_cost(asked, prices, at_once=at_once, a_month=a_month) if prices is not None else None
    return RunVersion(
        name=run.key.name,
        state=state,
        demand=asked.times(at_once),
        queue=queue,
        values=run.values,
        scheduled=kind.is_schedule,
        defined=kind.is_definition,
        steps=_steps(run, kind, units) if kind.steps else (),
        suspend_stops=kind.suspend_stops,
        cost=cost,
        preempts=_preempts(run, kind),
    )


def _steps(run: RenderedObject, kind: Resource, units: Units) -> tuple[StepDemand, ...]:
    """Empty if they cannot be read, which is reported with the demand."""
    try:
        return step_demands(run.outline, kind, units)
    except ValueError:
        return ()


def _preempts(run: RenderedObject, kind: Resource) -> tuple[str, ...]:
    """Empty if the steps cannot be read, as above."""
    try:
        return preempting_classes(run.outline, kind)
    except ValueError:
        return ()


def _demand(run: RenderedObject, kind: Resource, units: Units, found: Findings) -> Demand:
    """The demand of one run, also of a schedule."""
    try:
        return demand(run.outline, kind, units)
    except ValueError as error:
        message = f"cannot read the demand of {run.key}: {error}"
        found.error(UNKNOWN_USAGE, Location(run.path), message, "run `gen render` to write the file again")
        return Demand()


def _edited(pair: Pair) -> bool:
    before, after = pair.before, pair.after
    if before is None or after is None or before is after or pair.replaced:
        return False
    return content(before.body) != content(after.body)


def _check(run: RunChange, found: Findings) -> None:
    place = Location(run.pair.object.path)
    in_place = run.after is None or run.after.scheduled
    if run.edited and run.after is not None and not in_place and run.after.state is not RunState.FINISHED:
        message = f"`{run.key}` changed but kept its name; the API server rejects the change or applies a part of it"
        if run.pair.object.run and run.pair.object.run in run.key.name:
            found.error(RUN_EDITED, place, message, "run `gen render`, which gives the run a new name")
        else:
            hint = "delete the object in the cluster so that it is recreated, or remove `runs: {naming: stable}`"
            found.warning(RUN_EDITED, place, message, hint)
    if run.pair.replaced and run.after is not None and run.after.state is RunState.FINISHED and run.stops:
        message = f"`{run.key}` is the record of a run that never ran; it replaces a run that may be active"
        found.warning(NEVER_RAN, place, message, "finish the job and edit it in two pull requests")
