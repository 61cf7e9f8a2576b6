"""The state of an object of a run, from its status and the facts of its kind."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from gen.kubernetes import at
from gen.resources.base import Conditions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.kubernetes import Body
    from gen.resources.base import Phase, Resource


class State(StrEnum):
    """State of a run in its status. All other runs are active."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SUSPENDED = "suspended"
    ACTIVE = "active"


def state_of(resource: Resource, body: Body) -> State:
    """Failure and success are tested first: other conditions may stay true after the end."""
    facts = resource.status
    if facts is None:
        return State.ACTIVE
    if isinstance(facts, Conditions):
        held = {one["type"] for one in conditions(body) if one.get("status") == "True" and "type" in one}
        if facts.failed in held:
            return State.FAILED
        if facts.succeeded in held:
            return State.SUCCEEDED
        return State.SUSPENDED if facts.suspended in held else State.ACTIVE
    for state, phases in (
        (State.FAILED, facts.failed),
        (State.SUCCEEDED, facts.succeeded),
        (State.SUSPENDED, facts.suspended),
    ):
        if any(_holds(phase, body) for phase in phases):
            return state
    return State.ACTIVE


def reason_of(resource: Resource, body: Body) -> tuple[str, str]:
    """Reason and message of the state that has been reached; empty for an active run."""
    facts = resource.status
    if isinstance(facts, Conditions):
        wanted = [name for name in (facts.failed, facts.succeeded, facts.suspended) if name]
        for name in wanted:
            for one in conditions(body):
                if one.get("type") == name and one.get("status") == "True":
                    return str(one.get("reason") or ""), str(one.get("message") or "")
        return "", ""
    reason, message = at(body, "status", "reason"), at(body, "status", "message")
    return (str(reason or ""), str(message or "")) if state_of(resource, body) is not State.ACTIVE else ("", "")


def conditions(body: Body) -> Iterator[dict[str, Any]]:
    """The conditions in the status of any object."""
    listed = at(body, "status", "conditions")
    yield from (one for one in (listed if isinstance(listed, list) else ()) if isinstance(one, dict))


def _holds(phase: Phase, body: Body) -> bool:
    return at(body, *phase.field) in phase.values
