"""Text for a terminal: width, colors and links, tables, and wrapped lines. `View` is a result with its terminal."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from posixpath import join, normpath
from typing import Final, Generic, TypeVar
from urllib.parse import quote

from msgspec import Struct

from gen.report.escaping import sanitize

DEFAULT_WIDTH: Final = 80
MIN_WIDTH: Final = 40
COLORS: Final[Mapping[str, str]] = {
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}
_STYLES: Final[Mapping[str, str]] = {
    **COLORS,
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "bold": "1",
    "frame": "1;34",
    "help": "1;32",
    "removed": "31",
    "added": "32",
}
"""Parameters of the escape sequence that selects colors (SGR of ECMA-48)."""
_GAP: Final = 2
_LONGEST: Final = 400
"""Characters of a wrapped line."""
_SHORTEST: Final = 16
"""Minimum width of a cut column. If that is too much, columns are left out."""
_VERY_SHORT: Final = 8
"""Minimum width of the two most important columns."""
Data_co = TypeVar("Data_co", covariant=True)


class Terminal(Struct, frozen=True, kw_only=True):
    """A place for text; without colors and links unless it is a terminal that has them."""

    width: int | None = None
    """Columns; None for a file or a pipe, where nothing is cut."""
    color: bool = False
    links: bool = False
    """Whether it has links."""
    host: str = ""
    folder: str = ""
    """Name of the machine, and the folder that places are relative to, for links to files; empty for none."""

    def styled(self, text: str, style: str) -> str:
        """The text in a style; unchanged without colors, or if the style is empty."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.color and style else text

    def file_link(self, text: str, file: str) -> str:
        """The text as a link to a file, by its path from the folder."""
        path = os.fsencode(normpath(join(self.folder, file)))
        return self.link(text, f"file://{self.host}{quote(path)}" if self.folder else "")

    def link(self, text: str, url: str) -> str:
        """The text as a link, in the form that terminals agree on (OSC 8); as it is without an address."""
        return f"\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\" if self.links and url else text

    def fit(self, line: str) -> str:
        """A line that is not wrapped."""
        return line if self.width is None or len(line) <= self.width else line[: max(self.width - 1, 1)] + "…"


class View(Struct, Generic[Data_co], frozen=True, kw_only=True):
    """A result and the terminal that shows it."""

    data: Data_co
    terminal: Terminal = Terminal()


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


def column(name: str, texts: Iterable[str], rank: int, *, cut: bool = False, right: bool = False) -> Column:
    """A column of untrusted texts."""
    return Column(name=name, texts=tuple(map(sanitize, texts)), rank=rank, cut=cut, right=right)


class Table(Struct, frozen=True, kw_only=True):
    """Lines of a table, and the columns that are left out."""

    lines: tuple[str, ...]
    left_out: tuple[str, ...]


def table_lines(
    columns: Sequence[Column], terminal: Terminal, colors: Mapping[str, Sequence[str]], *, whole: bool = True
) -> Iterator[str]:
    """The lines of a table, and if it is `whole`, one about the columns that have no room."""
    made = table(columns, terminal, colors)
    yield from made.lines
    if made.left_out and whole:
        yield terminal.fit(f"(no room for {', '.join(made.left_out)})")


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


def wrap_line(line: str, terminal: Terminal) -> Iterator[str]:
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
