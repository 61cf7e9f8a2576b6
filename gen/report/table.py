"""Tables and lines that fit a terminal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gen.report.sanitize import sanitize

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gen.report.terminal import Terminal

_GAP: Final = 2
_LONGEST: Final = 400
"""Characters of a wrapped line."""
_SHORTEST: Final = 16
"""A column is not cut shorter; then columns are left out."""
_VERY_SHORT: Final = 8
"""The same for the two most important columns."""


class Column(Struct, frozen=True, kw_only=True):
    """A column of a table."""

    name: str
    texts: tuple[str, ...]
    rank: int
    """In a narrow terminal, columns with the highest rank are left out first."""
    cut: bool = False
    """Whether its texts may be cut."""
    right: bool = False

    @property
    def width(self) -> int:
        return max(map(len, (self.name, *self.texts)))


class Table(Struct, frozen=True, kw_only=True):
    """Lines of a table, and the columns that are left out."""

    lines: tuple[str, ...]
    left_out: tuple[str, ...]


def table(columns: Sequence[Column], terminal: Terminal, colors: Mapping[str, Sequence[str]]) -> Table:
    """Columns without any text are omitted. `colors` has a color for each text of a column."""
    shown = [column for column in columns if any(column.texts)]
    widths = {column.name: column.width for column in shown}
    left_out: list[str] = []
    while terminal.width is not None and _total(widths) > terminal.width:
        shortest = _SHORTEST if max(column.rank for column in shown) > 1 else _VERY_SHORT
        for column in sorted((one for one in shown if one.cut), key=lambda one: -widths[one.name]):
            too_much = _total(widths) - terminal.width
            widths[column.name] = max(min(widths[column.name], shortest), widths[column.name] - max(too_much, 0))
        if _total(widths) <= terminal.width or len(shown) <= 1:
            break
        last = max(shown, key=lambda column: column.rank)
        shown.remove(last)
        left_out.append(last.name)
        widths = {column.name: column.width for column in shown}
    rows = zip(*((column.name, *column.texts) for column in shown), strict=True)
    lines = []
    for number, row in enumerate(rows):
        cells = []
        for column, text in zip(shown, row, strict=True):
            cell = _cell(text, widths[column.name], right=column.right)
            own = colors.get(column.name, ()) if number else ()
            cells.append(terminal.styled(cell, own[number - 1]) if own else cell)
        lines.append((" " * _GAP).join(cells).rstrip())
    return Table(lines=tuple(lines), left_out=tuple(left_out))


def _total(widths: Mapping[str, int]) -> int:
    return sum(widths.values()) + _GAP * max(len(widths) - 1, 0)


def _cell(text: str, width: int, *, right: bool) -> str:
    text = text if len(text) <= width else text[: width - 1] + "…"
    return text.rjust(width) if right else text.ljust(width)


def wrapped(line: str, terminal: Terminal) -> Iterator[str]:
    """The line, in several lines if the terminal is narrower."""
    line = sanitize(line)
    line = line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
    if terminal.width is None or len(line) <= terminal.width:
        yield line
        return
    indent = " " * (len(line) - len(line.lstrip()))
    yield from textwrap.wrap(
        line.strip(),
        max(terminal.width, 20),
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
        break_on_hyphens=False,
    )
