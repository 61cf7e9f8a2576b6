"""Schedules of CronJobs, as `ParseStandard` of `robfig/cron` reads them: fields, faults, and runs in a month."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, Final

from gen.base import near, regex
from gen.kubernetes.quantity import MONTH
from gen.kubernetes.rules import Fault, unknown_name

_EVERY: Final = regex(r"@every (?P<duration>(?:[0-9]+(?:\.[0-9]*)?(?:ns|us|µs|ms|s|m|h))+)")
_DAY: Final = 86400
WORDS: Final = {
    "@yearly": 365 * _DAY,
    "@annually": 365 * _DAY,
    "@monthly": 28 * _DAY,
    "@weekly": 7 * _DAY,
    "@daily": _DAY,
    "@midnight": _DAY,
    "@hourly": 3600,
}
"""Words for schedules, with the shortest time between two of their times, in seconds."""
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
Field = tuple[int, int, dict[str, int]]
"""Lowest and highest value, and names of values."""
FIELDS: Final[tuple[Field, ...]] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    (0, 6, {name: number for number, name in enumerate(_DAYS)}),
)
_PART = regex(r"(\*|\?|\w{1,18})(?:-(\w{1,18}))?(?:/([0-9]{1,18}))?", re.ASCII)
_MOST_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_MINUTES_OF_A_DAY = 24 * 60
_UNIT = regex(r"([0-9]+(?:\.[0-9]*)?)(ns|us|µs|ms|s|m|h)")
_MOST_SECONDS = 2**63 / 1e9
"""About 292 years: Go counts a duration in nanoseconds, in 64 bits."""
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def values(field: str, limits: Field) -> frozenset[int] | None:
    """The values that a field of a schedule matches; None if it is invalid."""
    low, high, names = limits
    known: set[int] = set()
    for part in field.split(","):
        if not part:  # is skipped
            continue
        match = _PART.fullmatch(part)
        if match is None or (match[1] in "*?" and match[2]) or match[3] == "0":
            return None
        step = min(int(match[3] or 1), high + 1)
        if match[1] in "*?":
            known.update(range(low, high + 1, step))
            continue
        first = _number(match[1], names)
        last = _number(match[2], names) if match[2] else high if match[3] else first
        if not low <= first <= last <= high:
            return None
        known.update(range(first, last + 1, step))
    return frozenset(known)


def all_values(fields: list[str]) -> list[frozenset[int]]:
    """The values of each field of a valid schedule."""
    return [values(field, limits) or frozenset() for field, limits in zip(fields, FIELDS, strict=True)]


def either_day(fields: list[str]) -> bool:
    """Whether a schedule limits both kinds of days, so that one of the two is enough."""
    return fields[2][0] not in "*?" and fields[4][0] not in "*?"


def _number(word: str, names: dict[str, int]) -> int:
    return names.get(word.lower(), int(word) if word.isdecimal() else -1)


def every(schedule: str) -> float | None:
    """The seconds of `@every 90m`; None for other schedules, and for times that Go cannot count."""
    match = _EVERY.fullmatch(schedule)
    if match is None:
        return None
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in _UNIT.findall(match["duration"]))
    return seconds if seconds < _MOST_SECONDS else None


def never_comes(schedule: str) -> bool:
    """Whether a valid schedule names only days that no month has."""
    if schedule.startswith("@"):
        return False
    fields = schedule.split()
    _, _, days, months, weekdays = all_values(fields)
    if either_day(fields):
        return not weekdays or not months
    return not any(day <= _MOST_DAYS[month - 1] for month in months for day in days)


def at_once(schedule: str, seconds: int) -> int:
    """Runs of this length that overlap, if each starts on time."""
    return max(1, -(-seconds // shortest_interval(schedule)))


def shortest_interval(schedule: str) -> int:
    """The shortest time between two times of a valid schedule, in seconds, rounded down; at least 1."""
    if schedule in WORDS:
        return WORDS[schedule]
    if (seconds := every(schedule)) is not None:
        return max(1, int(seconds))
    minutes, hours, *_ = all_values(schedule.split())
    times = sorted(60 * hour + minute for hour in hours for minute in minutes)
    following = [*times[1:], times[0] + _MINUTES_OF_A_DAY] if times else []
    return 60 * min((later - time for time, later in zip(times, following, strict=True)), default=_MINUTES_OF_A_DAY)


_TAKES = ("minute: 0 to 59", "hour: 0 to 23", "day: 1 to 31", "month: 1 to 12", "day of the week: 0 (Sunday) to 6")
ZONED = regex(r"(?:CRON_)?TZ=(\S+)\s+(\S.*)")


def schedule_fault(value: Any) -> Fault | None:
    """The fault of an invalid schedule."""
    if "TZ" in value:
        zoned = ZONED.fullmatch(value)
        hint = (
            f'set `schedule: "{zoned[2]}"` and `timeZone: {zoned[1]}`' if zoned else "move the time zone to `timeZone`"
        )
        return Fault((), f"`{value}` contains a time zone", hint)
    if value in WORDS or every(value) is not None:
        return None
    fields = value.split()
    fits = len(fields) == len(FIELDS) and all(values(*pair) is not None for pair in zip(fields, FIELDS, strict=True))
    return None if fits else _no_schedule(value, fields)


def _no_schedule(value: str, fields: list[str]) -> Fault:
    message = f"`{value}` is not a valid schedule of five fields"
    if value.startswith("@every"):
        return Fault((), message, "use a duration in `h`, `m` and `s`, such as `@every 1h30m`")
    if value.startswith("@"):
        return unknown_name(message, value, (*WORDS, "@every 1h30m"), "")
    if len(fields) != len(FIELDS):
        return Fault((), message, "use minute, hour, day, month and day of the week, such as `0 3 * * *`")
    field, takes = next((field, _TAKES[at]) for at, field in enumerate(fields) if values(field, FIELDS[at]) is None)
    return Fault((), message, f"correct `{field}`; expected the {takes}, `*`, or steps such as `*/2`")


@cache
def _zones() -> frozenset[str]:
    """From the tzdata package and not from the system, so that every machine has the same."""
    from importlib.resources import files

    return frozenset((files("tzdata") / "zones").read_text("utf-8").split())


def time_zone_fault(value: Any) -> Fault | None:
    """The fault of an unknown time zone."""
    if value in _zones() and value.lower() != "local":
        return None
    # abbreviations are similar without being related, so only a difference in case counts for them
    guess = near(value, (zone for zone in sorted(_zones()) if "/" in zone or zone.lower() == value.lower()))
    hint = f"did you mean `{guess}`?" if guess else "use a time zone such as `Europe/Berlin`"
    return Fault((), f"`{value}` is not a known time zone", hint)


SHORT: Final = {
    **dict.fromkeys(("@yearly", "@annually"), "0 0 1 1 *"),
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    **dict.fromkeys(("@daily", "@midnight"), "0 0 * * *"),
    "@hourly": "0 * * * *",
}
_LENGTHS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_YEARS: Final = range(2001, 2029)
"""The calendar repeats after 28 years, between two years that are divisible by 100. These begin with a Monday."""
_ALL_MONTHS: Final = 12 * len(_YEARS)


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
    fields = SHORT.get(cron, cron).split()
    minutes, hours, days, months, weekdays = all_values(fields)
    matching = _days(days, months, weekdays, either=either_day(fields))
    return Fraction(len(minutes) * len(hours) * matching, _ALL_MONTHS)


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
