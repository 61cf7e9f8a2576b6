"""Timestamps and durations. From `common/types/timestamp.go` and `duration.go` of cel-go."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from gen.base import regex
from gen.kubernetes.cel.environment import function
from gen.kubernetes.cel.values import MAX_INT, MIN_INT, CelError, Duration, NotEvaluatedError, Timestamp

_SECOND: Final = 10**9
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST: Final = -62135596800 * _SECOND
_LAST: Final = 253402300799 * _SECOND + 999999999
_UNITS: Final = {"h": 3600 * _SECOND, "m": 60 * _SECOND, "s": _SECOND, "ms": 10**6, "us": 1000, "µs": 1000, "ns": 1}
_MAX_DURATION: Final = 1000
"""Characters; Python converts no numbers of more than a few thousand digits."""
_DURATION = regex(r"[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:h|ms|m|s|us|µs|ns))+)")
_PART = regex(r"(\d*)(?:\.(\d*))?(h|ms|m|s|us|µs|ns)")
_TIMESTAMP = regex(r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?(?:[Zz]|([+-])(\d\d):(\d\d))")
_DAY: Final = 24 * 60
_OFFSET = regex(r"([+-]?)(\d\d):(\d\d)")


def checked_timestamp(value: int) -> Timestamp:
    """A timestamp of the years 1 to 9999. CelError for any other."""
    if _FIRST <= value <= _LAST:
        return Timestamp(value)
    raise CelError("timestamp overflow")


def checked_duration(value: int) -> Duration:
    """A duration of 64 bits. CelError for any other."""
    if MIN_INT <= value <= MAX_INT:
        return Duration(value)
    raise CelError("duration overflow")


def parse_duration(text: str) -> Duration:
    """A duration such as `1h30m`. CelError for any other text."""
    if len(text) > _MAX_DURATION or not _DURATION.fullmatch(text):
        raise CelError(f'time: invalid duration "{text}"')
    total = 0
    for whole, part, unit in _PART.findall(text):
        scale = _UNITS[unit]
        total += int(whole or 0) * scale + (int(part) * scale // 10 ** len(part) if part else 0)
    return checked_duration(-total if text.startswith("-") else total)


def parse_timestamp(text: str) -> Timestamp:
    """A timestamp such as `2024-01-31T12:00:00Z`. CelError for any other text."""
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        raise CelError(f'parsing time "{text}" as "2006-01-02T15:04:05Z07:00": cannot parse "{text}"')
    try:
        year, month, day, hour, minute, second = (int(match[part]) for part in range(1, 7))
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError as error:
        raise CelError(f'parsing time "{text}": {error}') from None
    shift = (int(match[9]) * 60 + int(match[10])) * (1 if match[8] == "+" else -1) if match[8] else 0
    difference = moment - _EPOCH
    seconds = difference.days * 86400 + difference.seconds - shift * 60
    return checked_timestamp(seconds * _SECOND + int((match[7] or "0").ljust(9, "0")))


def show_duration(value: int) -> str:
    """A duration in seconds: `90s`, `1.5s`."""
    sign, size = "-" if value < 0 else "", abs(int(value))
    part = f".{size % _SECOND:09d}".rstrip("0") if size % _SECOND else ""
    return f"{sign}{size // _SECOND}{part}s"


def show_timestamp(value: int) -> str:
    """A timestamp in UTC."""
    moment = _EPOCH + timedelta(seconds=int(value) // _SECOND)
    part = f".{int(value) % _SECOND:09d}".rstrip("0") if int(value) % _SECOND else ""
    return f"{moment.year:04d}-{moment:%m-%dT%H:%M:%S}{part}Z"


def _zone(name: str) -> tzinfo:
    if name in {"", "UTC"}:
        return UTC
    match = _OFFSET.fullmatch(name)
    if match:
        minutes = (int(match[2]) * 60 + int(match[3])) * (-1 if match[1] == "-" else 1)
        if abs(minutes) >= _DAY:
            raise CelError(f"unknown time zone {name}")
        return timezone(timedelta(minutes=minutes))
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise CelError(f"unknown time zone {name}") from None


def _at(value: int, zone: tzinfo) -> datetime:
    try:
        return (_EPOCH + timedelta(seconds=int(value) // _SECOND)).astimezone(zone)
    except OverflowError:
        raise NotEvaluatedError("a time is outside of the years 1 to 9999 in its time zone") from None


def _part(name: str, of: str, *, duration: int = 0) -> None:
    """Register a method of timestamps, and of durations if it has a unit there."""

    def read(value: int, zone: str = "") -> int:
        if isinstance(value, Duration):
            return abs(int(value)) // duration * (-1 if value < 0 else 1)
        if of == "millisecond":
            return int(value) % _SECOND // 10**6
        moment = _at(value, _zone(zone))
        return _PARTS[of](moment)

    signatures = [f"timestamp::{name}() int", f"timestamp::{name}(string) int"]
    function(*signatures, *([f"duration::{name}() int"] if duration else []))(read)


_PARTS: Final[dict[str, Callable[[datetime], int]]] = {
    "year": lambda moment: moment.year,
    "month": lambda moment: moment.month - 1,
    "day": lambda moment: moment.day - 1,
    "date": lambda moment: moment.day,
    "yearday": lambda moment: moment.timetuple().tm_yday - 1,
    "weekday": lambda moment: (moment.weekday() + 1) % 7,
    "hour": lambda moment: moment.hour,
    "minute": lambda moment: moment.minute,
    "second": lambda moment: moment.second,
}
_part("getFullYear", "year")
_part("getMonth", "month")
_part("getDayOfYear", "yearday")
_part("getDayOfMonth", "day")
_part("getDate", "date")
_part("getDayOfWeek", "weekday")
_part("getHours", "hour", duration=3600 * _SECOND)
_part("getMinutes", "minute", duration=60 * _SECOND)
_part("getSeconds", "second", duration=_SECOND)
_part("getMilliseconds", "millisecond", duration=10**6)
