"""An edit of a file as replacements of the parts that differ."""

from __future__ import annotations

import difflib
from io import StringIO
from itertools import takewhile
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.report.report import Edit


class Position(Struct, frozen=True):
    """A line and a column, both counted from 1."""

    line: int
    column: int


class Replacement(Struct, frozen=True, kw_only=True):
    """Another text for a part of a file."""

    start: Position
    end: Position
    """After the last character."""
    text: str
    """Empty if the part is removed."""


def replacements_of(edit: Edit) -> Iterator[Replacement]:
    """The replacements from top to bottom. Columns do not count a byte order mark."""
    old, new = (list(StringIO(text.removeprefix("\ufeff"), newline="\n")) for text in (edit.old, edit.new))
    for tag, begin, end, first, last in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield _narrowed(begin + 1, "".join(old[begin:end]), "".join(new[first:last]))


def _narrowed(line: int, old: str, new: str) -> Replacement:
    """Only what differs between two texts that start in a line."""
    start = _common(old, new)
    same = _common(old[start:][::-1], new[start:][::-1])
    end = len(old) - same
    return Replacement(
        start=_position(line, old[:start]), end=_position(line, old[:end]), text=new[start : len(new) - same]
    )


def _common(one: str, other: str) -> int:
    """The number of characters that two texts begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _position(line: int, before: str) -> Position:
    """Where a text ends that starts in a line."""
    return Position(line + before.count("\n"), len(before) - (before.rfind("\n") + 1) + 1)
