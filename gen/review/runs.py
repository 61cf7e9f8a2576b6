"""Effects on runs: which ones start, stop, continue or become records that the engines ignore."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

from gen.diagnostics import Location
from gen.findings.rendered import NEVER_RAN, RUN_EDITED, UNKNOWN_USAGE
from gen.kubernetes import at, queue_in
from gen.resources import held_object
from gen.resources.content import content
from gen.resources.cost import RunCost, run_cost
from gen.resources.demand import Demand, demand
from gen.resources.engines import is_finished
from gen.resources.preemption import preempting_classes
from gen.resources.step_demand import StepDemand, step_demands
from gen.review.matching import Pair, workload
from gen.rules.cron_month import overlapping, runs_a_month

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.diagnostics import Findings
    from gen.overlay.overlay import Overlay
    from gen.resources.base import Resource
    from gen.resources.demand import Units
    from gen.review.rendered_object import ObjectKey, RenderedObject


class RunState(StrEnum):
    """State of a run in one of the trees."""

    ACTIVE = "active"
    SUSPENDED = "suspended"
    FINISHED = "finished"


class RunAction(StrEnum):
    """Effect of a merge on a run."""

    STARTED = "started"
    REPLACED = "replaced"
    """A new run replaces the previous run of the job."""
    STOPPED = "stopped"
    SUSPENDED = "suspended"
    RESUMED = "resumed"
    RETIRED = "retired"
    """It becomes a record in Git, which engines neither apply nor delete."""
    REOPENED = "reopened"
    """It was a record. An engine recreates it if it no longer exists, and then it runs again."""
    EDITED = "edited"
    """It changed under the same name. The API server rejects the change or applies only a part of it."""
    ADDED = "added"
    """New, but suspended or finished, so nothing starts."""
    REMOVED = "removed"
    """Removed, but no pod of it can have been running, so nothing stops."""
    SCHEDULED = "scheduled"
    """A new schedule. Its runs start at its times."""
    RESCHEDULED = "rescheduled"
    """A schedule that changes in place. Runs that it started go on, and later ones have the change."""
    UNSCHEDULED = "unscheduled"
    """A removed schedule. The runs that it started are removed with it."""
    DEFINED = "defined"
    """A new pipeline of Kubeflow Pipelines. People start its runs."""
    REDEFINED = "redefined"
    """A new version of one. Runs of earlier versions go on."""
    UNDEFINED = "undefined"
    """A removed one. Its runs go on."""
    KEPT = "kept"


_BY_STATE = {
    RunState.ACTIVE: RunAction.REOPENED,
    RunState.SUSPENDED: RunAction.SUSPENDED,
    RunState.FINISHED: RunAction.RETIRED,
}
"""Effect of a change to another state, except for resumed runs."""


@dataclass(frozen=True, slots=True)
class RunVersion:
    """A run in one of the trees."""

    name: str
    state: RunState
    demand: Demand
    queue: str
    """Empty without a queue."""
    values: str = ""
    """The values of a run of a sweep, as JSON."""
    scheduled: bool = False
    """Whether it is a schedule, which starts runs at its times."""
    defined: bool = False
    """Whether it only defines runs, which people start."""
    steps: tuple[StepDemand, ...] = ()
    """The steps of a pipeline."""
    suspend_stops: bool = True
    """Whether suspension stops its pods."""
    cost: RunCost | None = None
    """None if the overlay has no prices."""
    preempts: tuple[str, ...] = ()
    """PriorityClasses of its pods that stop pods of a lower priority."""

    @property
    def counts(self) -> bool:
        """Whether its pods may run."""
        return self.active or (self.state is RunState.SUSPENDED and not self.suspend_stops)

    @property
    def active(self) -> bool:
        return self.state is RunState.ACTIVE

    @property
    def later(self) -> bool:
        """Whether its runs start after it was applied."""
        return self.scheduled or self.defined


@dataclass(frozen=True, slots=True)
class RunChange:
    """A run before and after the merge, or a run and the one that it replaces."""

    pair: Pair
    job: str
    before: RunVersion | None
    after: RunVersion | None
    edited: bool
    """Whether its content changed under the same name."""

    @property
    def key(self) -> ObjectKey:
        return self.pair.object.key

    @property
    def latest(self) -> RunVersion:
        """The run after the merge, or before it if the merge removes the run."""
        version = self.after or self.before
        assert version is not None  # noqa: S101 - a run exists before or after
        return version

    @property
    def replaces(self) -> str:
        """Name of the run that it replaces, or an empty string."""
        return self.pair.before.key.name if self.pair.replaced and self.pair.before is not None else ""

    @property
    def starts(self) -> bool:
        new = self.before is None or not self.before.active or self.pair.replaced
        return self.after is not None and self.after.active and new and not self.after.later

    @property
    def stops(self) -> bool:
        """Whether pods that may run are removed. A retired run is not stopped."""
        if self.before is None or not self.before.counts or self.before.defined:
            return False
        if self.after is not None and self.before.scheduled and not self.pair.replaced:
            return False
        suspended = self.after is not None and self.after.state is RunState.SUSPENDED
        return self.after is None or self.pair.replaced or (suspended and not self.after.counts)

    @property
    def action(self) -> RunAction:
        before, after = self.before, self.after
        if self.latest.defined or before is None or after is None:
            return self._defined() if self.latest.defined else self._added_or_removed()
        if self.pair.replaced:
            return RunAction.REPLACED
        if before.state is after.state and after.scheduled:
            return RunAction.RESCHEDULED if self.edited else RunAction.KEPT
        if before.state is after.state:
            return RunAction.EDITED if self.edited and after.state is not RunState.FINISHED else RunAction.KEPT
        if before.state is RunState.SUSPENDED and after.active:
            return RunAction.RESUMED
        return _BY_STATE[after.state]

    def _defined(self) -> RunAction:
        if self.after is None:
            return RunAction.UNDEFINED
        if self.before is None or not self.before.defined:
            return RunAction.DEFINED
        return RunAction.REDEFINED if self.pair.replaced or self.edited else RunAction.KEPT

    def _added_or_removed(self) -> RunAction:
        if self.latest.scheduled and self.before is not None and self.before.counts:
            return RunAction.UNSCHEDULED
        if self.latest.scheduled and self.latest.active:
            return RunAction.SCHEDULED
        if self.before is None:
            return RunAction.STARTED if self.starts else RunAction.ADDED
        return RunAction.STOPPED if self.stops else RunAction.REMOVED


def run_changes(pairs: Iterable[Pair], overlays: Mapping[str, Overlay], found: Findings) -> tuple[RunChange, ...]:
    """The runs among the objects. Reports changes of runs that have no effect, or an unwanted one, in a cluster."""
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
