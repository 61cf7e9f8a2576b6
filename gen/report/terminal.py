"""The terminal that a text is for, and tables that fit it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gen.report.sanitize import sanitize

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_GAP: Final = 2
_LONGEST: Final = 400
"""Characters of a wrapped line."""
_SHORTEST: Final = 16
"""A column is not cut shorter; then columns are left out."""
_VERY_SHORT: Final = 8
"""The same for the two most important columns."""
COLOURS: Final = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "magenta": "35", "cyan": "36"}


class Terminal(Struct, frozen=True, kw_only=True):
    """Where a text is shown."""

    width: int | None = None
    """Columns; None for a file or a pipe, where nothing is cut."""
    colour: bool = False

    def paint(self, text: str, colour: str) -> str:
        """The text in a colour, if the terminal shows colours."""
        return f"\x1b[{COLOURS[colour]}m{text}\x1b[0m" if self.colour and colour else text

    def fit(self, line: str) -> str:
        """A line that is not wrapped."""
        return line if self.width is None or len(line) <= self.width else line[: max(self.width - 1, 1)] + "…"


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


def table(columns: Sequence[Column], terminal: Terminal, colours: Mapping[str, Sequence[str]]) -> Table:
    """Columns without any text are omitted. `colours` has a colour for each text of a column."""
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
            own = colours.get(column.name, ()) if number else ()
            cells.append(terminal.paint(cell, own[number - 1]) if own else cell)
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
