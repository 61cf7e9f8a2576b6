"""Fields of a schedule: the times at which a job runs."""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from gen.model.base import Model, default
from gen.model.scalars import Count, Duration, Given, refuse, schema
from gen.model.synonyms import SCHEDULE
from gen.model.validators import After

_MAX_TIMES = 400
"""The longest schedule without repetitions, a list of all values of each field, has 391 characters."""


def _short_enough(value: str) -> Any:
    if len(value) > _MAX_TIMES:
        remedy = "write ranges and steps, such as `0-30/5`, instead of lists"
        raise refuse(f"at most {_MAX_TIMES} characters", value, remedy)
    return value


CronText = Annotated[Given, After(_short_enough), schema("string", "string", maxLength=_MAX_TIMES)]


class History(Model):
    """Ended runs of a schedule that the cluster keeps."""

    succeeded: Count = 3
    """Succeeded runs."""
    failed: Count = 1
    """Failed runs. With `concurrency: Replace`, only `kind: batch` keeps any."""


class Schedule(Model):
    """Times at which the job runs."""

    synonyms: ClassVar[Mapping[str, str]] = SCHEDULE
    main: ClassVar[str] = "cron"

    cron: CronText
    """Minute, hour, day, month and day of the week, such as `0 3 * * *`, or a word such as `@daily`."""
    time_zone: Given = "Etc/UTC"
    """Time zone of these times, such as `Europe/Berlin`."""
    concurrency: Literal["Forbid", "Allow", "Replace"] = "Forbid"
    """What happens at a time when the previous run has not ended: `Forbid` omits the new run, `Replace` stops the
    previous one, `Allow` runs both, and needs a `timeout`."""
    deadline: Duration = 3600
    """How late a run may start, after an outage or an edit. Later, it is omitted. [default: `1h`]"""
    history: History = default(History)
    """Ended runs that the cluster keeps."""
