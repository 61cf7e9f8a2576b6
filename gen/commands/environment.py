"""The environment of commands: the terminal, a progress bar, and the address of the documentation.

Help is shown without importing more.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from gen import DOCUMENTATION

if TYPE_CHECKING:
    from gen.base.parallel import Progress
    from gen.report.formats import Documentation
    from gen.report.terminal import Terminal

VARIABLE: Final = "GEN_DOCS_URL"
"""Environment variable with the address of a site, such as one that an organisation hosts."""
_FORM: Final = r"(?:https?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?|file://)(?:/[A-Za-z0-9_.~%+@-]+)*/?"


def documentation() -> Documentation:
    """The site of the environment, or that of this version of gen. UsageError for an address of another form."""
    from gen.report.formats import Documentation

    site = _site()
    if site is None:
        from gen.base import UsageError

        raise UsageError(f"`{VARIABLE}` is not a valid address; use a form like `https://docs.example.com/gen`")
    return Documentation(site)


def help_line(otherwise: str = "") -> str:
    """The last line of help: where to read more. Help is shown for an invalid address, too."""
    return f"Documentation: {home(site)}" if (site := _site()) else otherwise


def home(site: str) -> str:
    """The first page. A folder of the disk has no server that chooses it."""
    return f"{site}/index.html" if site.startswith("file:") else f"{site}/"


def _site() -> str | None:
    """The address, without `/` at the end; None if it is not valid."""
    site = os.environ.get(VARIABLE) or DOCUMENTATION
    if site:
        from gen.base import regex

        if regex(_FORM).fullmatch(site) is None:
            return None
    return site.rstrip("/")


_LINKING_VTE: Final = 5000
"""VTE 0.50, the first that shows links."""
_LINKING: Final = frozenset({"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper"})
"""Values of `TERM_PROGRAM` of terminals that have links."""


def is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def reads_terminal() -> bool:
    """Whether standard input is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


def terminal(root: Path | None = None) -> Terminal:
    """The standard output; with links to files of the repository if `root` is given.

    `COLUMNS`, `NO_COLOR`, `CLICOLOR_FORCE` and `FORCE_HYPERLINK` take precedence over its detected properties.
    """
    from gen.report.terminal import MIN_WIDTH, Terminal

    width = _width()
    if width is not None:
        width = max(width, MIN_WIDTH)
    folder = root.resolve().as_posix() if root is not None else ""
    return Terminal(width=width, color=_has_color(), links=_has_links(), host=os.uname().nodename, folder=folder)


def _width() -> int | None:
    if (given := os.environ.get("COLUMNS", "")).isdigit() and int(given):
        return int(given)
    with suppress(OSError, ValueError, AttributeError):  # not a terminal, or closed
        return os.get_terminal_size(sys.stdout.fileno()).columns
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
    return bool(known) or (vte.isdigit() and int(vte) >= _LINKING_VTE) or os.environ.get("TERM_PROGRAM") in _LINKING


_SILENT: Final = 1.0
"""Seconds without a bar."""
_EACH: Final = 0.1
"""Seconds between two changes of it."""


@contextmanager
def progress_bar(what: str) -> Iterator[Progress | None]:
    """Where to report progress; None unless standard error is a terminal. The bar is erased at the end."""
    if not _is_visible():
        yield None
        return
    bar = _Bar(what)
    try:
        yield bar
    finally:
        bar.end()


def _is_visible() -> bool:
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    return is_terminal and "CI" not in os.environ and os.environ.get("TERM") != "dumb"


class _Bar:
    """No thread draws it, because forks start other processes."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.next = monotonic() + _SILENT
        self.shown: Any = None
        self.task: Any = None

    def __call__(self, done: int, total: int, /) -> None:
        now = monotonic()
        if now < self.next:
            return
        self.next = now + _EACH
        if self.shown is None:
            self.shown = _made()
            self.task = self.shown.add_task(self.what, total=total)
            self.shown.start()
        self.shown.update(self.task, completed=done, total=total)
        self.shown.refresh()

    def end(self) -> None:
        if self.shown is not None:
            self.shown.stop()


def _made() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
