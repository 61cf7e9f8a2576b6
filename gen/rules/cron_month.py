"""How often a schedule comes: runs that overlap, and runs in a month on average."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from gen.resources.cost import MONTH
from gen.rules.cron_syntax import FIELDS, at_once, every, shortest_interval, values
from gen.rules.cron_values import schedule_fault

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHORT: Final = {
    **dict.fromkeys(("@yearly", "@annually"), "0 0 1 1 *"),
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    **dict.fromkeys(("@daily", "@midnight"), "0 0 * * *"),
    "@hourly": "0 * * * *",
}
_LENGTHS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_YEARS: Final = range(2001, 2029)
"""The calendar repeats after 28 years, between two years that are divisible by 100. These begin with a Monday."""
_MONTHS: Final = 12 * len(_YEARS)


def overlapping(cron: object, seconds: int | None, *, allowed: bool) -> int:
    """Runs of a schedule that can overlap. Without a time limit, any number could; gen renders no such schedule."""
    if not allowed or seconds is None or not isinstance(cron, str) or schedule_fault(cron):
        return 1
    return at_once(cron, seconds)


def runs_a_month(cron: object) -> Fraction:
    """The average number of runs in a month; of an invalid schedule, one each second."""
    if not isinstance(cron, str) or schedule_fault(cron):
        return Fraction(MONTH)
    return _runs(cron)


@lru_cache(maxsize=1024)
def _runs(cron: str) -> Fraction:
    if every(cron) is not None:
        return Fraction(MONTH, shortest_interval(cron))
    fields = _SHORT.get(cron, cron).split()
    minutes, hours, days, months, weekdays = (
        values(field, limits) or frozenset() for field, limits in zip(fields, FIELDS, strict=True)
    )
    either = fields[2][0] not in "*?" and fields[4][0] not in "*?"
    return Fraction(len(minutes) * len(hours) * _days(days, months, weekdays, either=either), _MONTHS)


def _days(days: frozenset[int], months: frozenset[int], weekdays: frozenset[int], *, either: bool) -> int:
    """Days of 28 years on which a schedule comes. If it limits both kinds of days, one of the two is enough."""
    both = any if either else all
    return sum(month in months and both((day in days, weekday in weekdays)) for month, day, weekday in _calendar())


def _calendar() -> Iterator[tuple[int, int, int]]:
    """Month, day and day of the week, from Sunday on, of each day."""
    weekday = 1
    for year in _YEARS:
        for month, length in enumerate(_LENGTHS, 1):
            for day in range(1, length + (month == 2 and year % 4 == 0) + 1):  # noqa: PLR2004 - February
                yield month, day, weekday
                weekday = (weekday + 1) % 7
