"""Jobs with ended runs, and the obstacles to finishing them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from gen.base.engines import RECORDS
from gen.base.repository.layout import JobFile
from gen.live.desired import DesiredRun
from gen.live.model import Phase, RunStatus
from gen.render.starters import starter_of_object


class Obstacle(StrEnum):
    """Reason not to finish a job with an ended run."""

    SCHEDULED = "it has a schedule, which goes on"
    OTHER_RUNS = "other runs of it have not ended"
    UNKNOWN = "the state of a run in another cluster is not known"
    FAILED = "a run failed"


class EndedJob(Struct, frozen=True, kw_only=True):
    """A job with an ended run. `gen retire` finishes it unless there is an obstacle."""

    job: JobFile
    runs: tuple[RunStatus, ...]
    """Its ended runs."""
    obstacle: Obstacle | None = None
    parts: tuple[Mapping[str, str], ...] = ()
    """Values of the runs of a sweep that have ended, if they can be finished without the others."""
    swept: bool = False
    """Whether they are runs of a sweep."""


_Rows = list[tuple["DesiredRun", "RunStatus | None"]]


def ended_jobs(runs: Iterable[RunStatus], desired: Sequence[DesiredRun], *, keep_failed: bool) -> list[EndedJob]:
    """The jobs with ended runs that are not finished in Git. `desired` has the runs of all overlays."""
    rows: Mapping[tuple[str, str, str, str], RunStatus] = {
        (run.overlay, run.namespace, run.kind, run.name): run
        for run in runs
        if run.desired is not None and not run.parent
    }
    by_job: dict[JobFile, _Rows] = defaultdict(list)
    for one in desired:
        if one.source is not None and one.state not in RECORDS:
            row = rows.get((one.overlay, one.namespace, one.resource.kind, one.name))
            by_job[one.source].append((one, row))
    found = (_ended(job, own, keep_failed=keep_failed) for job, own in sorted(by_job.items()))
    return [one for one in found if one is not None]


def _ended(job: JobFile, own: _Rows, *, keep_failed: bool) -> EndedJob | None:
    states = [row for _, row in own]
    done = tuple(row for row in states if row is not None and row.phase.ended)
    if not done:
        return None
    scheduled = any(starter_of_object(one.resource).repeats for one, _ in own)
    obstacle = _obstacle(states, scheduled=scheduled, keep_failed=keep_failed)
    if obstacle is not None and not scheduled and all(one.values for one, _ in own):
        parts = _parts(own, keep_failed=keep_failed)
        if parts:
            finished = tuple(row for values, rows in parts for row in rows)
            return EndedJob(job=job, runs=finished, parts=tuple(values for values, _ in parts), swept=True)
    return EndedJob(job=job, runs=done, obstacle=obstacle, swept=any(one.values for one, _ in own))


def _parts(own: _Rows, *, keep_failed: bool) -> list[tuple[Mapping[str, str], list[RunStatus]]]:
    """Combinations of a sweep that have ended in all overlays, and have values that no other combination has."""
    by_values: dict[str, _Rows] = defaultdict(list)
    for one in own:
        by_values[one[0].values].append(one)
    every = {text: values for text in by_values if (values := _values(text)) is not None}
    found: list[tuple[Mapping[str, str], list[RunStatus]]] = []
    for text, values in every.items():
        rows = [row for _, row in by_values[text]]
        known = [row for row in rows if row is not None]
        wider = any(values.items() < other.items() for other in every.values())
        if not wider and _obstacle(rows, scheduled=False, keep_failed=keep_failed) is None:
            found.append((values, known))
    return found


def _values(text: str) -> dict[str, str] | None:
    """Values in an annotation, which anybody can have edited in `rendered/`."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    plain = isinstance(values, dict) and all(isinstance(value, str) for value in values.values())
    return values if plain else None


def _obstacle(states: Sequence[RunStatus | None], *, scheduled: bool, keep_failed: bool) -> Obstacle | None:
    phases = {row.phase for row in states if row is not None}
    if scheduled:
        return Obstacle.SCHEDULED
    if None in states or Phase.UNKNOWN in phases:
        return Obstacle.UNKNOWN
    if not all(phase.ended for phase in phases):
        return Obstacle.OTHER_RUNS
    return Obstacle.FAILED if keep_failed and Phase.FAILED in phases else None
