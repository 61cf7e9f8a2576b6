"""What an engine does to an object in a cluster when Git changes. Each engine adds its own rules to these."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from msgspec import Struct

from gen.base.engines import EngineFacts, Mark


class Deed(IntEnum):
    """Ordered by the effect on pods, the smallest first: of several engines, the largest counts."""

    LEFT = 0
    BLOCKED = 1
    """Not applied, because the engine must refuse another object first."""
    REFUSED = 2
    """The API server refuses the change."""
    PATCHED = 3
    CREATED = 4
    DELETED = 5
    REPLACED = 6
    """Deleted and created."""

    @property
    def creates(self) -> bool:
        return self in {Deed.CREATED, Deed.REPLACED}

    @property
    def deletes(self) -> bool:
        return self in {Deed.DELETED, Deed.REPLACED}


class Outcome(Struct, frozen=True, kw_only=True):
    deed: Deed
    reason: str = ""
    """Why the engine does not do what the change of the file asks for."""


class Change(Struct, frozen=True, kw_only=True):
    """An object in Git before and after a commit, as an engine reads it. The cluster had the state before."""

    before: Any = None
    """Its metadata; None without a file."""
    after: Any = None
    record: bool = False
    """Whether the engine left the object before alone, so that it may have gone from the cluster."""
    changed: bool = False
    """Whether the engine sees a difference."""
    refused: bool = False
    """Whether the API server refuses to change the object in place."""
    moved: bool = False
    """Whether an owner that is gone applied the object before, and was not prepared for that."""
    owner_stays: bool = True
    """Whether the Application or Kustomization that applied it goes on."""
    root_stays: bool = True
    """Whether the engine still has objects of its own for the overlay in Git."""
    pruned: bool = True
    """Whether the owner prunes. None prunes data."""


def applied(facts: EngineFacts, change: Change, *, forced: bool = False) -> Outcome:
    """What becomes of an object with a file. `forced` means that it is deleted and created at each change."""
    if facts.finished.is_on(change.after):
        return Outcome(deed=Deed.LEFT, reason=f"the annotation `{facts.finished}`")
    if change.before is None or change.record:
        return Outcome(deed=Deed.CREATED)
    if not change.moved and facts.settled is not None and facts.settled.is_on(change.after):
        return Outcome(deed=Deed.LEFT, reason=f"the annotation `{facts.settled}`, which lets it create objects only")
    if change.moved or (change.changed and forced):
        return Outcome(deed=Deed.REPLACED)
    if change.changed and change.refused:
        return Outcome(deed=Deed.REFUSED, reason="a changed field that the API server does not let change")
    return Outcome(deed=Deed.PATCHED if change.changed else Deed.LEFT)


def removed(change: Change, *protections: Mark) -> Outcome:
    """What becomes of an object without a file. Engines read protections from the cluster."""
    mark = next((one for one in protections if one.is_on(change.before)), None)
    if mark is not None:
        return Outcome(deed=Deed.LEFT, reason=f"the annotation `{mark}`")
    if not change.pruned:
        return Outcome(deed=Deed.LEFT, reason="nothing prunes data")
    return Outcome(deed=Deed.DELETED)
