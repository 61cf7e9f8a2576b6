"""Cron jobs: when a job is made. What is made is a matter of the rules of jobs.

From `validateCronJobSpec` of `pkg/apis/batch/validation/validation.go`; schedules as `robfig/cron` reads them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from gen.validate.forms import at_least, given, one_of
from gen.validate.rule import server
from gen.validate.tables import Table

if TYPE_CHECKING:
    from gen.validate.tables import Faults
    from gen.validate.view import View

_LONGEST_NAME = 52
_EVERY = re.compile(r"@every (?:[0-9]+(?:\.[0-9]*)?(?:ns|us|µs|ms|s|m|h))+")
_WORDS = {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_FIELDS: tuple[tuple[int, int, dict[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    (0, 6, {name: number for number, name in enumerate(_DAYS)}),
)
_PART = re.compile(r"(\*|\?|\w+)(?:-(\w+))?(?:/([0-9]+))?")


def _schedule(value: Any) -> str | None:
    if "TZ" in value:
        return f"`{value}` names a time zone; write it as `timeZone`"
    if value in _WORDS or _EVERY.fullmatch(value):
        return None
    fields = value.split()
    fits = len(fields) == len(_FIELDS) and all(map(_fits, fields, _FIELDS))
    return None if fits else f"`{value}` is no schedule of five fields, such as `0 3 * * *`"


def _fits(field: str, limits: tuple[int, int, dict[str, int]]) -> bool:
    low, high, names = limits
    for part in field.split(","):
        if not part:  # is skipped
            continue
        match = _PART.fullmatch(part)
        if match is None or (match[1] in "*?" and match[2]) or match[3] == "0":
            return False
        if match[1] in "*?":
            continue
        ends = [
            names.get(word.lower(), int(word) if word.isdecimal() else -1) for word in (match[1], match[2] or match[1])
        ]
        if not low <= ends[0] <= ends[1] <= high:
            return False
    return True


@cache
def _zones() -> frozenset[str]:
    import zoneinfo  # noqa: PLC0415 - where no zone is named it is not needed

    return frozenset(zoneinfo.available_timezones())


def _time_zone(value: Any) -> str | None:
    return (
        None
        if value in _zones() and value.lower() != "local"
        else f"`{value}` is no time zone, such as `Europe/Berlin`"
    )


_CRON = Table(
    {
        "schedule": _schedule,
        "timeZone": _time_zone,
        "startingDeadlineSeconds": at_least(0),
        "concurrencyPolicy": given(one_of("Allow", "Forbid", "Replace")),
        "successfulJobsHistoryLimit": at_least(0),
        "failedJobsHistoryLimit": at_least(0),
    }
)


@server(
    "cron-jobs",
    "batch/CronJob",
    remedy="Write five fields, such as `0 3 * * *`.",
)
def cron_jobs(view: View) -> Faults:
    """Schedules, time zones and policies of cron jobs can be read."""
    if view.kind != "CronJob" or view.is_custom:
        return
    yield from _CRON.faults(view.spec, ("spec",))
    if len(view.metadata.get("name", "")) > _LONGEST_NAME:
        yield ("metadata", "name"), f"longer than {_LONGEST_NAME} characters; the names of its jobs are 11 longer"
    template = (view.spec.get("jobTemplate") or {}).get("spec") or {}
    for field in ("selector", "manualSelector"):
        if template.get(field):
            yield ("spec", "jobTemplate", "spec", field), "is made by the server"
