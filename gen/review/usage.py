"""GPUs of active runs per namespace and queue, before and after, compared with the quota of the overlay."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gen.diagnostics import Findings, Location
from gen.findings.grants import OVER_QUOTA
from gen.findings.rendered import LIMITS_UNKNOWN
from gen.overlay.read import OverlayReader
from gen.repository.layout import overlay_file, overlays_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from gen.overlay.overlay import Overlay
    from gen.review.demand import Demand
    from gen.review.runs import RunChange


@dataclass(frozen=True, slots=True)
class Load:
    """Total demand of the active runs in a namespace and queue."""

    gpus: int = 0
    gpu_hours: float = 0.0
    """Maximum, without the runs that have no time limit."""
    unbounded: int = 0
    """Runs with GPUs and without a time limit."""

    def __add__(self, demand: Demand) -> Load:
        hours = demand.gpu_hours
        return Load(self.gpus + demand.gpus, self.gpu_hours + (hours or 0.0), self.unbounded + (hours is None))


@dataclass(frozen=True, slots=True, order=True)
class UsageKey:
    """The namespace and queue that GPUs are counted for."""

    overlay: str
    namespace: str
    queue: str
    """Empty for runs without a queue."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Load of one namespace and queue, before and after."""

    key: UsageKey
    before: Load
    after: Load
    quota: int | None
    """GPUs that the overlay grants the namespace, over all queues; None without a quota."""


def usage_changes(runs: Iterable[RunChange], overlays: Mapping[str, Overlay], found: Findings) -> tuple[Usage, ...]:
    """Usage of every namespace and queue with GPUs before or after. Reports namespaces over their quota."""
    before: dict[UsageKey, Load] = {}
    after: dict[UsageKey, Load] = {}
    for run in runs:
        for version, loads in ((run.before, before), (run.after, after)):
            if version is not None and version.active and version.demand.gpus:
                key = UsageKey(run.key.scope, run.key.namespace, version.queue)
                loads[key] = loads.get(key, Load()) + version.demand
    rows = tuple(
        Usage(key, before.get(key, Load()), after.get(key, Load()), _quota(overlays, key))
        for key in sorted(before.keys() | after.keys())
    )
    _check_quotas(rows, overlays, found)
    return rows


def _quota(overlays: Mapping[str, Overlay], key: UsageKey) -> int | None:
    overlay = overlays.get(key.overlay)
    grant = overlay.grant(key.namespace) if overlay is not None else None
    return None if grant is None else grant.gpus


def _check_quotas(rows: Iterable[Usage], overlays: Mapping[str, Overlay], found: Findings) -> None:
    requested: Counter[tuple[str, str, int]] = Counter()
    for row in rows:
        if row.quota is not None:
            requested[row.key.overlay, row.key.namespace, row.quota] += row.after.gpus
    for (name, namespace, quota), gpus in sorted(requested.items()):
        if gpus > quota:
            overlay = overlays[name]
            key = namespace if namespace in overlay.fields.namespaces else "*"
            message = f"namespace `{namespace}` would request {gpus} GPUs in overlay `{name}`; its quota is {quota}"
            hint = "set some of its jobs to `state: suspended` or `finished`, or raise `gpus`"
            found.error(OVER_QUOTA, overlay.place("namespaces", key, "gpus"), message, hint)


def read_overlays(root: Path, scopes: Iterable[str], found: Findings) -> dict[str, Overlay]:
    """The overlays of the work tree by name. Warns about unreadable ones among `scopes`: their quotas are unknown."""
    own = Findings()
    overlays = {overlay.name: overlay for overlay in OverlayReader(root, own).read()}
    for name in sorted(set(scopes) - overlays.keys()):
        place = next((f.place for f in own if f.place.file.startswith(overlays_path(name, ""))), None)
        message = f"the GPU quotas of overlay `{name}` are unknown, because the overlay cannot be read"
        here = place or Location(overlay_file(name))
        found.warning(LIMITS_UNKNOWN, here, message, "run `gen check` to see its errors")
    return overlays
