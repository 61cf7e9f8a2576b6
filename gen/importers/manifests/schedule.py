"""Schedules: an object that starts runs at set times, as `schedule` of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gen import quantity

if TYPE_CHECKING:
    from gen.importers.draft import JobDraft
    from gen.importers.manifests.objects import Item
    from gen.kubernetes import Body

_FIELDS: Final = {"timeZone": ("timeZone",), "concurrencyPolicy": ("concurrency",)}
_NUMBERS: Final = {
    "successfulJobsHistoryLimit": ("history", "succeeded"),
    "failedJobsHistoryLimit": ("history", "failed"),
}


def as_schedule(draft: JobDraft, item: Item, body: Body) -> None:
    """Set `schedule` from a CronJob. Without a policy, its runs may overlap, which a job has to say."""
    spec = body["spec"]
    values: dict[str, Any] = {"cron": spec.get("schedule", "")}
    for name, route in _FIELDS.items():
        if name in spec:
            values[route[0]] = spec[name]
    for name, (outer, inner) in _NUMBERS.items():
        if isinstance(spec.get(name), int):
            values.setdefault(outer, {})[inner] = spec[name]
    if isinstance(deadline := spec.get("startingDeadlineSeconds"), int):
        values["deadline"] = quantity.duration(deadline)
    draft.set(values if len(values) > 1 else values["cron"], "schedule", place=item.place("spec", "schedule"))
