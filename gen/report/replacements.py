"""An edit of a file as replacements of the parts that differ."""

from __future__ import annotations

import difflib
from io import StringIO
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gen.report.report import Edit

MAX_COMPARED: Final = 1000
"""Lines between the first and the last change of an edit that are compared with each other."""


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
    """The replacements from top to bottom; none if they are more than `MAX_COMPARED` lines apart.

    Columns do not count a byte order mark.
    """
    old, new = (list(StringIO(text.removeprefix("\ufeff"), newline="\n")) for text in (edit.old, edit.new))
    start = _common(old, new)
    same = _common(old[start:][::-1], new[start:][::-1])
    old, new = old[start : len(old) - same], new[start : len(new) - same]
    for begin, end, first, last in _different(old, new):
        yield _narrowed(start + begin + 1, "".join(old[begin:end]), "".join(new[first:last]))


def _different(old: list[str], new: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """The lines of each that differ. The time grows with the square of their number.

    A replacement of all of them would show lines that the edit does not change, such as a secret.
    """
    if max(len(old), len(new)) > MAX_COMPARED:
        return
    for tag, *lines in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            begin, end, first, last = lines
            yield begin, end, first, last


def _narrowed(line: int, old: str, new: str) -> Replacement:
    """Only what differs between two texts that start in a line."""
    start = _common(old, new)
    same = _common(old[start:][::-1], new[start:][::-1])
    end = len(old) - same
    return Replacement(
        start=_position(line, old[:start]), end=_position(line, old[:end]), text=new[start : len(new) - same]
    )


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """The number of characters that two texts begin with, or of lines."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _position(line: int, before: str) -> Position:
    """Where a text ends that starts in a line."""
    return Position(line + before.count("\n"), len(before) - (before.rfind("\n") + 1) + 1)
