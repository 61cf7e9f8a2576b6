"""GPUs of active runs by namespace and accelerator, before and after."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from gen.render.quota import quotas
from gen.review.usage import version_after

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.overlay.overlay import Overlay
    from gen.review.runs import RunChange


class DeviceUsage(Struct, frozen=True, order=True, kw_only=True):
    """GPUs of one accelerator that the active runs of a namespace request."""

    overlay: str
    namespace: str
    accelerator: str
    """Empty for devices without a name."""
    before: int
    after: int
    quota: int | None
    """None without a quota for this accelerator."""


def device_changes(runs: Iterable[RunChange], overlays: Mapping[str, Overlay]) -> tuple[DeviceUsage, ...]:
    """The accelerators that runs request before or after."""
    before: Counter[tuple[str, str, str]] = Counter()
    after: Counter[tuple[str, str, str]] = Counter()
    for run in runs:
        for version, counts in ((run.before, before), (version_after(run, overlays), after)):
            if version is not None and version.counts:
                for name, number in version.demand.most.items():
                    counts[run.key.scope, run.key.namespace, name] += number
    return tuple(
        DeviceUsage(
            overlay=place[0],
            namespace=place[1],
            accelerator=place[2],
            before=before[place],
            after=after[place],
            quota=_quota(overlays, *place),
        )
        for place in sorted(before.keys() | after.keys())
        if before[place] or after[place]
    )


def _quota(overlays: Mapping[str, Overlay], overlay: str, namespace: str, name: str) -> int | None:
    return quotas(overlays[overlay], namespace).get(("accelerators", name)) if overlay in overlays else None
