"""Work as a number that is the same on every machine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType


def lines_run(function: Callable[[], object], *packages: str) -> int:
    """The number of lines of Python that run in modules of gen and of further packages. Cached results take none."""
    names = ("gen", *packages)
    count = 0

    def on_line(_frame: FrameType, event: str, _value: object) -> Any:
        nonlocal count
        count += event == "line"
        return on_line

    def on_call(frame: FrameType, _event: str, _value: object) -> Any:
        return on_line if str(frame.f_globals.get("__name__")).partition(".")[0] in names else None

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


def is_linear(work: Callable[[int], int], size: int) -> bool:
    """Whether four times the size takes at most five times the work."""
    return work(4 * size) <= 5 * work(size)
