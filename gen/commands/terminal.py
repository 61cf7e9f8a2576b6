"""The terminal of the standard output."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from gen.report.terminal import MIN_WIDTH, Terminal

if TYPE_CHECKING:
    from pathlib import Path

_LINKING: Final = frozenset({"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper"})
"""Values of `TERM_PROGRAM` of terminals that have links."""


def is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def reads_terminal() -> bool:
    """Whether somebody would have to type the standard input."""
    return sys.stdin is not None and sys.stdin.isatty()


def terminal(root: Path | None = None) -> Terminal:
    """The standard output; with links to files of the repository if `root` is given.

    `COLUMNS`, `NO_COLOR`, `CLICOLOR_FORCE` and `FORCE_HYPERLINK` decide over what it seems to be.
    """
    folder = root.resolve().as_posix() if root is not None else ""
    return Terminal(width=_width(), color=_has_color(), links=_has_links(), host=os.uname().nodename, folder=folder)


def _width() -> int | None:
    if (given := os.environ.get("COLUMNS", "")).isdigit() and int(given):
        return max(int(given), MIN_WIDTH)
    with suppress(OSError, ValueError, AttributeError):  # not a terminal, or closed
        return max(os.get_terminal_size(sys.stdout.fileno()).columns, MIN_WIDTH)
    return None


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
