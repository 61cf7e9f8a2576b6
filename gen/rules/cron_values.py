"""Faults of the schedule and the time zone of a cron job, in a manifest or in a job file."""

from __future__ import annotations

from functools import cache
from typing import Any

from gen.diagnostics import near
from gen.regex import regex
from gen.rules.cron_syntax import FIELDS, WORDS, every, values
from gen.rules.fault import Fault, unknown_name

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
    from importlib.resources import files  # noqa: PLC0415 - only needed for a cron job with a time zone

    return frozenset((files("tzdata") / "zones").read_text("utf-8").split())


def time_zone_fault(value: Any) -> Fault | None:
    """The fault of an unknown time zone."""
    if value in _zones() and value.lower() != "local":
        return None
    # abbreviations are similar without being related, so only a difference in case counts for them
    guess = near(value, (zone for zone in sorted(_zones()) if "/" in zone or zone.lower() == value.lower()))
    hint = f"did you mean `{guess}`?" if guess else "use a time zone such as `Europe/Berlin`"
    return Fault((), f"`{value}` is not a known time zone", hint)
