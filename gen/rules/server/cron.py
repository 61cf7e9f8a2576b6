"""Cron jobs: schedule, time zone and policies. Their job templates are checked by the rules of jobs.

From `validateCronJobSpec` of `pkg/apis/batch/validation/validation.go`; schedules as `robfig/cron` parses them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.resources.batch import CRONJOB
from gen.rules.cron_values import schedule_fault, time_zone_fault
from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks
from gen.rules.rule import server
from gen.rules.value_checks import at_least, if_set, one_of

if TYPE_CHECKING:
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_MAX_NAME_LENGTH = CRONJOB.max_name or 0
_CRON = FieldChecks(
    {
        "schedule": schedule_fault,
        "timeZone": time_zone_fault,
        "startingDeadlineSeconds": at_least(0),
        "concurrencyPolicy": if_set(one_of("Allow", "Forbid", "Replace")),
        "successfulJobsHistoryLimit": at_least(0),
        "failedJobsHistoryLimit": at_least(0),
    }
)


@server(
    "cron-jobs",
    "batch/CronJob",
    remedy="Use a schedule of five fields, such as `0 3 * * *`, and a time zone such as `Europe/Berlin`.",
)
def cron_jobs(view: ObjectView) -> Faults:
    """A cron job has an invalid schedule, time zone, policy or limit."""
    if view.kind != "CronJob" or view.is_custom:
        return
    yield from _CRON.faults(view.spec, ("spec",))
    if len(view.metadata.get("name", "")) > _MAX_NAME_LENGTH:
        message = f"longer than {_MAX_NAME_LENGTH} characters; the names of its jobs are 11 longer"
        yield Fault(("metadata", "name"), message, f"shorten it by {len(view.metadata['name']) - _MAX_NAME_LENGTH}")
    template = (view.spec.get("jobTemplate") or {}).get("spec") or {}
    for field in ("selector", "manualSelector"):
        if template.get(field, False) is not False:
            at = ("spec", "jobTemplate", "spec", field)
            yield Fault(at, f"`{field}` is set by the API server", f"remove `{field}`")
