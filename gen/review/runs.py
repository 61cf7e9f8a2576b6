"""Effects on runs: which ones start, stop, continue or become records that the engines ignore."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gen.resources.cost import RunCost
    from gen.resources.demand import Demand
    from gen.resources.step_demand import StepDemand
    from gen.review.matching import Pair
    from gen.review.rendered_object import ObjectKey


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
