"""What a plan has to say, before it is decided how."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from gen.review.runs import Action, State

if TYPE_CHECKING:
    from gen.diagnostics import Diagnostic
    from gen.repository.git import Base
    from gen.review.data import DataObject
    from gen.review.fields import FieldChange
    from gen.review.matching import Pair
    from gen.review.runs import Run
    from gen.review.usage import Usage


class Change(StrEnum):
    """What merging does to an object."""

    ADDED = "added"
    CHANGED = "changed"
    REPLACED = "replaced"
    MOVED = "moved"
    """It lies in another file, and nothing happens to it."""
    REMOVED = "removed"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """An object that a merge touches."""

    pair: Pair
    change: Change
    fields: tuple[FieldChange, ...] = ()
    """For what is on both sides: how they differ."""


@dataclass(frozen=True)
class Review:
    """What merging the work tree's `rendered/` into the base would do."""

    base: Base
    runs: tuple[Run, ...]
    boards: Counter[Change]
    """TensorBoards, by what happens to them."""
    data: tuple[DataObject, ...]
    usage: tuple[Usage, ...]
    objects: tuple[ObjectChange, ...]
    """Those that a merge touches."""
    before: int
    """Objects at the base."""
    after: int
    findings: tuple[Diagnostic, ...]

    @cached_property
    def actions(self) -> Counter[Action]:
        return Counter(run.action for run in self.runs)

    @cached_property
    def changes(self) -> Counter[Change]:
        return Counter(item.change for item in self.objects)

    @cached_property
    def starting(self) -> tuple[Run, ...]:
        return tuple(run for run in self.runs if run.starts)

    @cached_property
    def stopping(self) -> tuple[Run, ...]:
        return tuple(run for run in self.runs if run.stops)

    @cached_property
    def kept(self) -> int:
        """Runs that are as they were, without the records of finished ones."""
        same = [run for run in self.runs if run.action is Action.KEPT]
        return sum(run.after is not None and run.after.state is not State.FINISHED for run in same)

    @property
    def refused(self) -> bool:
        return any(finding.severity.value == "error" for finding in self.findings)
