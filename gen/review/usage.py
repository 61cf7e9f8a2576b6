"""What the active runs of a namespace ask for together, before and after, beside what the overlay grants."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gen.diagnostics import Findings, Location
from gen.overlay.read import OverlayReader
from gen.repository.layout import overlay_file, overlays_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from gen.overlay.overlay import Overlay
    from gen.review.demand import Demand
    from gen.review.runs import Run


@dataclass(frozen=True, slots=True)
class Load:
    """What the active runs of a namespace and queue ask for together."""

    gpus: int = 0
    gpu_hours: float = 0.0
    """At most, without the runs that may go on for ever."""
    unbounded: int = 0
    """Runs with GPUs that may go on for ever."""

    def __add__(self, demand: Demand) -> Load:
        hours = demand.gpu_hours
        return Load(self.gpus + demand.gpus, self.gpu_hours + (hours or 0.0), self.unbounded + (hours is None))


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Whose GPUs they are."""

    overlay: str
    namespace: str
    queue: str
    """Empty where runs name none."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Before and after, for one place."""

    place: Place
    before: Load
    after: Load
    limit: int | None
    """GPUs that the overlay grants the namespace, over all queues; None when it sets no limit."""


def usages(runs: Iterable[Run], overlays: Mapping[str, Overlay], found: Findings) -> tuple[Usage, ...]:
    """Every place that has GPUs on either side, and a finding for a namespace that has too many."""
    before: dict[Place, Load] = {}
    after: dict[Place, Load] = {}
    for run in runs:
        for side, loads in ((run.before, before), (run.after, after)):
            if side is not None and side.active and side.demand.gpus:
                where = Place(run.key.scope, run.key.namespace, side.queue)
                loads[where] = loads.get(where, Load()) + side.demand
    rows = tuple(
        Usage(place, before.get(place, Load()), after.get(place, Load()), _limit(overlays, place))
        for place in sorted(before.keys() | after.keys())
    )
    _within_limits(rows, overlays, found)
    return rows


def _limit(overlays: Mapping[str, Overlay], place: Place) -> int | None:
    overlay = overlays.get(place.overlay)
    grant = overlay.grant(place.namespace) if overlay is not None else None
    return None if grant is None else grant.gpus


def _within_limits(rows: Iterable[Usage], overlays: Mapping[str, Overlay], found: Findings) -> None:
    wanted: Counter[tuple[str, str, int]] = Counter()
    for row in rows:
        if row.limit is not None:
            wanted[row.place.overlay, row.place.namespace, row.limit] += row.after.gpus
    for (name, namespace, limit), gpus in sorted(wanted.items()):
        if gpus > limit:
            overlay = overlays[name]
            key = namespace if namespace in overlay.fields.namespaces else "*"
            message = f"the active runs of `{namespace}` would have {gpus} GPUs in `{name}`, and {limit} are granted"
            hint = "set some of its jobs to `state: suspended` or `finished`, or raise `gpus`"
            found.error("over-quota", overlay.place("namespaces", key, "gpus"), message, hint)


def read_overlays(root: Path, scopes: Iterable[str], found: Findings) -> dict[str, Overlay]:
    """The overlays with the limits, by name; those that cannot be read are told, for then limits are not known."""
    own = Findings()
    overlays = {overlay.name: overlay for overlay in OverlayReader(root, own).read()}
    for name in sorted(set(scopes) - overlays.keys()):
        place = next((f.place for f in own if f.place.file.startswith(overlays_path(name, ""))), None)
        message = f"the limits of `{name}` are not known: its overlay cannot be read"
        here = place or Location(overlay_file(name))
        found.warning("limits-unknown", here, message, "`gen check` says what is wrong with it")
    return overlays
