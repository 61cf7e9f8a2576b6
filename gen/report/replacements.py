"""An edit of a file as replacements of the parts that differ."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from msgspec import Struct

from gen.line_changes import MAX_COMPARED, between_ends, changed_lines

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
    """The replacements from top to bottom; none if they are more than `MAX_COMPARED` lines apart.

    A replacement of all of these would show lines that the edit does not change, such as a secret. Columns do not count
    a byte order mark.
    """
    old, new = (list(StringIO(text.removeprefix("\ufeff"), newline="\n")) for text in (edit.old, edit.new))
    for begin, end, first, last in changed_lines(old, new):
        if max(end - begin, last - first) <= MAX_COMPARED:
            yield _narrowed(begin + 1, "".join(old[begin:end]), "".join(new[first:last]))


def _narrowed(line: int, old: str, new: str) -> Replacement:
    """Only what differs between two texts that start in a line."""
    start, end, first, last = between_ends(old, new)
    return Replacement(start=_position(line, old[:start]), end=_position(line, old[:end]), text=new[first:last])


def _position(line: int, before: str) -> Position:
    """Where a text ends that starts in a line."""
    return Position(line + before.count("\n"), len(before) - (before.rfind("\n") + 1) + 1)
