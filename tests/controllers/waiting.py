"""Wait for what controllers do."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

WAIT_S = 60
_QUIET_S = 4
_POLL_S = 0.1


def wait(found: Callable[[], T | None], what: str, seconds: float = WAIT_S) -> T:
    """The first result that is not false."""
    deadline = time.monotonic() + seconds
    while not (result := found()):
        assert time.monotonic() < deadline, f"no {what} in {seconds} s"
        time.sleep(_POLL_S)
    return result


def give_time(seconds: float = _QUIET_S) -> None:
    """Controllers act within it; later changes are not expected."""
    time.sleep(seconds)
