"""The terminal that output goes to, and the files that it shows lines of."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from gen.report.screen import DEFAULT_WIDTH, MIN_WIDTH, Screen
from gen.repository.safe_files import MAX_BYTES, linked_folder, read_regular

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gen.report.report import Report

_MAX_WIDTH: Final = 120
"""Longer lines are hard to read."""
_LINKING: Final = frozenset({"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper"})
"""Values of `TERM_PROGRAM` of terminals that have links."""


def is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def screen(root: Path | None) -> Screen:
    """The standard output. `NO_COLOR`, `CLICOLOR_FORCE` and `FORCE_HYPERLINK` decide over what it seems to be."""
    width = min(_width(), _MAX_WIDTH)
    links = f"file://{os.uname().nodename}{root.resolve().as_posix()}" if root is not None and _has_links() else ""
    return Screen(width=width, color=_has_color(), links=links)


def _width() -> int:
    if (given := os.environ.get("COLUMNS", "")).isdigit() and int(given):
        return max(int(given), MIN_WIDTH)
    with suppress(OSError, ValueError, AttributeError):  # not a terminal, or closed
        return max(os.get_terminal_size(sys.stdout.fileno()).columns, MIN_WIDTH)
    return DEFAULT_WIDTH


def _has_color() -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("CLICOLOR_FORCE", "0") != "0":
        return True
    return is_terminal() and os.environ.get("TERM") != "dumb" and os.environ.get("CLICOLOR") != "0"


def _has_links() -> bool:
    if (forced := os.environ.get("FORCE_HYPERLINK")) is not None:
        return forced != "0"
    if not is_terminal() or "CI" in os.environ:
        return False
    known = {"WT_SESSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION"} & os.environ.keys()
    vte = os.environ.get("VTE_VERSION", "")
    return bool(known) or (vte.isdigit() and int(vte) >= 5000) or os.environ.get("TERM_PROGRAM") in _LINKING  # noqa: PLR2004 - 0.50


def lines_below(root: Path | None) -> Callable[[str], list[str]]:
    """Reads the lines of files by their paths in a repository; none of those that are not readable text."""
    known: dict[str, list[str]] = {}

    def lines(file: str) -> list[str]:
        if file not in known:
            known[file] = _lines(root, file)
        return known[file]

    return lines


def _lines(root: Path | None, file: str) -> list[str]:
    if root is None or linked_folder(root, file) is not None:  # a link may lead to a file of another owner
        return []
    try:
        return read_regular(root / file, MAX_BYTES).decode("utf-8").split("\n")
    except (OSError, ValueError):
        return []


def shown(report: Report) -> str:
    """The report with excerpts, for this terminal."""
    from gen.report.full import full  # noqa: PLC0415 - not needed for other formats

    return full(report, screen(report.root), lines_below(report.root))
