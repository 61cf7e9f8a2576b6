"""What a terminal shows: its width, colors and links."""

from __future__ import annotations

import os
import unicodedata
from posixpath import join, normpath
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        """The text in a style; as it is if the style is empty, or if there are no colors."""
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


def columns(text: str) -> int:
    """Columns that a terminal needs for a text."""
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
