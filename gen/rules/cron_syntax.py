"""Schedules of cron jobs, as `ParseStandard` of `robfig/cron` reads them: their fields, and how often they come."""

from __future__ import annotations

import re
from typing import Final

from gen.regex import regex

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
    _, _, days, months, weekdays = (
        values(field, limits) or frozenset() for field, limits in zip(fields, FIELDS, strict=True)
    )
    if fields[4][0] not in "*?" and fields[2][0] not in "*?":  # either of the two is enough
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
    minutes, hours = (
        values(field, limits) or frozenset() for field, limits in zip(schedule.split()[:2], FIELDS[:2], strict=True)
    )
    times = sorted(60 * hour + minute for hour in hours for minute in minutes)
    following = [*times[1:], times[0] + _MINUTES_OF_A_DAY] if times else []
    return 60 * min((later - time for time, later in zip(times, following, strict=True)), default=_MINUTES_OF_A_DAY)
