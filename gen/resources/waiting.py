"""How Argo Workflows waits for the end of an object: two label selectors over its fields.

From `workflow/executor/resource.go` of argoproj/argo-workflows 3.7 and 4.1: success needs every requirement, a failure
any one, and failures are tested first. Keys are paths of gjson that are valid keys of labels, so a path cannot
search a list. A selector that does not parse is found after the object was created, which then runs without a waiter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gen.regex import regex
from gen.resources.base import Conditions, Phases

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gen.resources.base import Phase, Resource

MOST_CONDITIONS: Final = 8
"""Places of a list of conditions that are searched for a failure; operators have at most six types."""
_KEY: Final = regex(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_VALUE: Final = regex(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")


class Waiting(Struct, frozen=True, kw_only=True):
    """The object to wait for, and the conditions of its end."""

    of: Resource
    """The kind of the object, which has the name of the run."""
    success: str
    failure: str


def waiting(facts: Resource) -> Waiting | None:
    """None if Argo cannot find the end of objects of this kind."""
    awaited = facts.awaited
    if awaited is not None and awaited.instead is not None:
        return waiting(awaited.instead)
    if awaited is not None and awaited.succeeded:
        return _of_phases(facts, awaited.succeeded, awaited.failed)
    if awaited is not None and awaited.ended and isinstance(facts.status, Conditions):
        return _of_conditions(facts, ".".join(awaited.ended), facts.status.failed)
    if isinstance(facts.status, Phases) and len(facts.status.succeeded) == 1:
        return _of_phases(facts, facts.status.succeeded, facts.status.failed)
    return None


def _of_phases(facts: Resource, succeeded: Iterable[Phase], failed: Iterable[Phase]) -> Waiting | None:
    both = [",".join(map(_requirement, phases)) for phases in (succeeded, failed)]
    fits = all(_fits(phase) for phases in (succeeded, failed) for phase in phases)
    return Waiting(of=facts, success=both[0], failure=both[1]) if fits else None


def _of_conditions(facts: Resource, ended: str, failed: str) -> Waiting | None:
    """A failure can be at any place of the list, and is there only if the run failed."""
    places = (f"status.conditions.{index}.type == {failed}" for index in range(MOST_CONDITIONS))
    fits = _KEY.fullmatch(ended) is not None and _VALUE.fullmatch(failed) is not None
    return Waiting(of=facts, success=ended, failure=",".join(places)) if fits else None


def _requirement(phase: Phase) -> str:
    key, values = ".".join(phase.field), phase.values
    return f"{key} == {values[0]}" if len(values) == 1 else f"{key} in ({','.join(values)})"


def _fits(phase: Phase) -> bool:
    return _KEY.fullmatch(".".join(phase.field)) is not None and all(map(_VALUE.fullmatch, phase.values))
