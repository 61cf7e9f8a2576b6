"""A bar on a terminal for work that takes longer than a second."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.parallel import Progress

_SILENT: Final = 1.0
"""Seconds without a bar."""
_EACH: Final = 0.1
"""Seconds between two changes of it."""


@contextmanager
def progress_bar(what: str) -> Iterator[Progress | None]:
    """Where to report progress; None unless standard error is a terminal. The bar is erased at the end."""
    if not _is_wanted():
        yield None
        return
    bar = _Bar(what)
    try:
        yield bar
    finally:
        bar.end()


def _is_wanted() -> bool:
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
    from rich.console import Console  # noqa: PLC0415 - few commands take a second
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
