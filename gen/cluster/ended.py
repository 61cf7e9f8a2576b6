"""Jobs whose runs have all ended."""

from __future__ import annotations

from collections import defaultdict
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from gen.cluster.model import Phase

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gen.cluster.model import RunStatus
    from gen.cluster.wanted import Wanted
    from gen.repository.layout import JobFile


class Why(StrEnum):
    """Why a job with an ended run stays as it is."""

    SCHEDULED = "it has a schedule, which goes on"
    OTHER_RUNS = "other runs of it have not ended"
    UNKNOWN = "the state of a run in another cluster is not known"
    FAILED = "a run failed"


class Ended(Struct, frozen=True, kw_only=True):
    """A job with an ended run. `gen retire` can change it if there is no reason against that."""

    job: JobFile
    runs: tuple[RunStatus, ...]
    """Its ended runs."""
    why: Why | None = None


def ended_jobs(runs: Iterable[RunStatus], wanted: Sequence[Wanted], *, keep_failed: bool) -> list[Ended]:
    """The jobs with ended runs that are not finished in Git. `wanted` has the runs of all overlays."""
    rows: Mapping[tuple[str, str, str, str], RunStatus] = {
        (run.overlay, run.namespace, run.kind, run.name): run for run in runs if run.wanted not in (None, "schedule")
    }
    by_job: dict[JobFile, list[Wanted]] = defaultdict(list)
    for one in wanted:
        if one.source is not None and one.state != "finished":
            by_job[one.source].append(one)
    found = []
    for job, own in sorted(by_job.items()):
        states = [rows.get((one.overlay, one.namespace, one.resource.kind, one.name)) for one in own]
        done = tuple(row for row in states if row is not None and row.phase.ended)
        if done:
            scheduled = any(one.resource.is_schedule for one in own)
            found.append(Ended(job=job, runs=done, why=_why(states, scheduled=scheduled, keep_failed=keep_failed)))
    return found


def _why(states: Sequence[RunStatus | None], *, scheduled: bool, keep_failed: bool) -> Why | None:
    phases = {row.phase for row in states if row is not None}
    if scheduled:
        return Why.SCHEDULED
    if None in states or Phase.UNKNOWN in phases:
        return Why.UNKNOWN
    if not all(phase.ended for phase in phases):
        return Why.OTHER_RUNS
    return Why.FAILED if keep_failed and Phase.FAILED in phases else None
