"""A run in one of the rendered trees: its state and its amounts, from its file.

Most runs of a repository have the amounts of another one. Those of an unchanged file are read once for all runs whose
files differ in other fields alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Findings, Location, at
from gen.base.codes.rendered import UNKNOWN_USAGE
from gen.base.engines import RECORDS, is_finished, may_run
from gen.job.plan import Edit
from gen.kubernetes.facts import held_object
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.demand import Demand, StepDemand, Units, demand, step_demands
from gen.kubernetes.facts.runtimes import NO_RUNTIMES, Runtimes
from gen.kubernetes.facts.scheduling import queue_in
from gen.kubernetes.facts.state import state_in
from gen.kubernetes.objects import CHECKPOINTS, RESUMES
from gen.overlay.costs import RunCost, run_cost
from gen.overlay.overlay import Overlay
from gen.render.rendered_object import RenderedObject, workload
from gen.render.starters import preempting_classes, starter_of_object

Item = TypeVar("Item")


class RunState(StrEnum):
    """State of a run in one of the trees."""

    ACTIVE = "active"
    SUSPENDED = "suspended"
    FINISHED = "finished"


class RunVersion(Struct, frozen=True):
    """A run in one of the trees."""

    name: str
    state: RunState
    demand: Demand
    queue: str
    """Empty without a queue."""
    values: str = ""
    """The values of a run of a sweep, as JSON."""
    edit: Edit = Edit.NEW_RUN
    """The effect of an edit of its job."""
    steps: tuple[StepDemand, ...] = ()
    """The steps of a pipeline."""
    suspend_stops: bool = True
    """Whether suspension stops its pods."""
    cost: RunCost | None = None
    """None if the overlay has no prices."""
    preempts: tuple[str, ...] = ()
    """PriorityClasses of its pods that stop pods of a lower priority."""
    saves: str = ""
    """Where it saves its checkpoints, as `volume:path`; empty without `checkpoints`."""
    resumes: str = ""
    """The folder of the earlier run that it continues from, as `volume:path`."""
    runtimes: Runtimes = NO_RUNTIMES
    """Those of its overlay, which pods of a TrainJob are of."""

    @property
    def counts(self) -> bool:
        """Whether its pods may run."""
        return may_run(self.state, suspend_stops=self.suspend_stops)

    @property
    def active(self) -> bool:
        return self.state is RunState.ACTIVE

    @property
    def later(self) -> bool:
        """Whether its runs start after it was applied."""
        return self.in_place or self.versioned

    @property
    def in_place(self) -> bool:
        """Whether it is a schedule, which changes in place and starts runs at its times."""
        return self.edit is Edit.IN_PLACE

    @property
    def versioned(self) -> bool:
        """Whether it only defines runs, which people start."""
        return self.edit is Edit.NEW_VERSION


EqualRuns = dict[tuple[str, Resource, str], RunVersion]
"""A run that starts itself, by overlay, kind and the text of its amounts."""


def version_of(
    run: RenderedObject,
    overlays: Mapping[str, Overlay],
    engines: Collection[str],
    found: Findings,
    equal: EqualRuns | None = None,
) -> RunVersion:
    """`equal` has runs that were read before: most runs of a repository differ in commands and variables alone."""
    kind = workload(run)
    assert kind is not None  # called for runs only
    amounts = run.counted if equal is not None and starter_of_object(kind).is_run else ""
    if equal is None or not amounts:
        return _read_version(run, kind, overlays, engines, found)
    key = run.key.scope, kind, amounts
    if key in equal:
        return _with_amounts(run, equal[key], engines)
    version = _read_version(run, kind, overlays, engines, found)
    if version.state is not RunState.FINISHED and not found.items:
        equal[key] = version
    return version


def _with_amounts(run: RenderedObject, other: RunVersion, engines: Collection[str]) -> RunVersion:
    """A run with the amounts of another one, which is not finished."""
    return replace(
        other,
        name=run.key.name,
        state=RunState.FINISHED if is_finished(run.metadata, engines) else other.state,
        queue=queue_in(run.metadata.get("labels")),
        values=run.values,
        saves=str(at(run.metadata, "annotations", CHECKPOINTS) or ""),
        resumes=str(at(run.metadata, "annotations", RESUMES) or ""),
    )


def _read_version(
    run: RenderedObject, kind: Resource, overlays: Mapping[str, Overlay], engines: Collection[str], found: Findings
) -> RunVersion:
    overlay = overlays.get(run.key.scope)
    units = overlay.device_units if overlay is not None else {}
    runtimes = overlay.runtimes if overlay is not None else NO_RUNTIMES
    own = state_in(kind, run.body, engines)
    state = RunState.FINISHED if own in RECORDS else RunState(own)
    queue = queue_in(run.metadata.get("labels")) or queue_in(at(held_object(run.body), "metadata", "labels"))
    one_run, starter = _demand(run, kind, units, runtimes, found), starter_of_object(kind)
    at_once, a_month = starter.rate(at(run.body, "spec"), one_run, active=state is RunState.ACTIVE)
    prices = overlay.prices if overlay is not None else None
    cost = run_cost(one_run, prices, at_once=at_once, a_month=a_month) if prices is not None else None
    return RunVersion(
        name=run.key.name,
        state=state,
        demand=one_run.times(at_once),
        queue=queue,
        values=run.values,
        edit=starter.edit,
        steps=_readable(lambda: step_demands(run.body, kind, units, runtimes)) if kind.steps else (),
        suspend_stops=kind.suspend_stops,
        cost=cost,
        preempts=_readable(lambda: preempting_classes(run.body, kind)),
        runtimes=runtimes,
        saves=str(at(run.metadata, "annotations", CHECKPOINTS) or ""),
        resumes=str(at(run.metadata, "annotations", RESUMES) or ""),
    )


def _readable(read: Callable[[], tuple[Item, ...]]) -> tuple[Item, ...]:
    """Empty if the steps of a run are unreadable, which is reported with the demand."""
    try:
        return read()
    except ValueError:
        return ()


def _demand(run: RenderedObject, kind: Resource, units: Units, runtimes: Runtimes, found: Findings) -> Demand:
    """The demand of one run, also of a schedule."""
    try:
        return demand(run.body, kind, units, runtimes)
    except ValueError as error:
        message = f"cannot read the demand of {run.key}: {error}"
        found.error(UNKNOWN_USAGE, Location(run.path), message, "run `gen render` to write the file again")
        return Demand()
