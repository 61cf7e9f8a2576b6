"""Rows of runs that start others: how far they are, and why they wait or failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from gen.cluster.model import Phase, Progress
from gen.kubernetes import at
from gen.resources.graphs import graph_of
from gen.resources.state import State, state_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gen.cluster.model import RunStatus
    from gen.kubernetes import Body
    from gen.resources.base import Resource


def with_children(row: RunStatus, resource: Resource, live: Body, children: Sequence[RunStatus]) -> RunStatus:
    """The row of a run with its progress, and with the reason of the object that it waits for or that failed."""
    if resource.is_schedule or not (resource.is_workflow or resource.holds):
        return row
    row = replace(row, progress=_progress(resource, live, children))
    if resource.holds is not None or row.phase not in {Phase.FAILED, Phase.PENDING, Phase.RUNNING}:
        return row
    if row.phase is Phase.FAILED:
        cause = next((one for one in children if one.phase is Phase.FAILED), None)
    else:
        cause = next((one for one in children if not one.phase.ended and (one.reason or one.queue)), None)
    if cause is None or (row.phase is Phase.RUNNING and not cause.reason):
        return row
    phase = row.phase if row.phase is not Phase.PENDING else cause.phase
    message = f"{cause.step}: {cause.message}" if cause.step and cause.message else cause.message
    return replace(row, phase=phase, reason=cause.reason, message=message, queue=cause.queue, position=cause.position)


def _progress(resource: Resource, live: Body, children: Sequence[RunStatus]) -> Progress | None:
    if resource.holds is not None:
        numbers = [at(live, *route) for route in resource.holds.ended]
        total = at(live, *resource.holds.in_all)
        done = sum(one for one in numbers if isinstance(one, int) and not isinstance(one, bool))
        return Progress(done=done, total=total, unit="trial") if isinstance(total, int) else None
    total = sum(1 for _ in graph_of(resource).objects(live))
    if total < 2:  # noqa: PLR2004 - the run of a schedule has one
        return None
    done = sum(one.phase.ended for one in children)
    if state_of(resource, live) is State.SUCCEEDED:
        done = max(done, len(children))
    return Progress(done=min(done, total), total=total, unit="step")
