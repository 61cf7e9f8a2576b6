"""The time until the last pod of a run has ended, which can be later than the limit of the run time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen import quantity
from gen.resources.pods import follow

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.resources.base import Resource

KEPT: Final = "None"
"""Clean-up policy that lets pods run on after the end of the run."""


def longest_time(limit: int | None, *, attempts: int = 1, kept: int | None = 0) -> int | None:
    """Seconds of all attempts, with the time for which pods stay; None for unlimited."""
    return None if limit is None or kept is None else limit * attempts + kept


def run_time(body: Body, kind: Resource) -> int | None:
    """Upper bound of the time in which pods of an object run, in seconds; None without one.

    ValueError for a value that cannot be read.
    """
    limit = _seconds(body, kind.deadline)
    retries = _seconds(body, kind.retries) if kind.limits_attempt else None
    stays = kind.cleanup is not None and follow(body, kind.cleanup) == KEPT
    return longest_time(limit, attempts=1 + (retries or 0), kept=None if stays else _seconds(body, kind.kept) or 0)


def _seconds(body: Body, route: Route | None) -> int | None:
    value = follow(body, route) if route is not None else None
    return None if value is None else int(quantity.amount(str(value)))
