"""GPUs of active runs per namespace and queue, before and after, compared with the quota of the overlay."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gen.diagnostics import Findings, Location
from gen.findings.rendered import LIMITS_UNKNOWN, MAY_STILL_RUN
from gen.overlay.read import OverlayReader
from gen.render.quota import GPUS, Requested, add_request, check_quotas, quotas
from gen.repository.layout import overlay_file, overlays_path
from gen.review.runs import RunAction

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from gen.overlay.overlay import Overlay
    from gen.render.quota import Quota
    from gen.resources.demand import Demand
    from gen.review.runs import RunChange, RunVersion


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


def usage_changes(
    runs: Iterable[RunChange],
    overlays: Mapping[str, Overlay],
    found: Findings,
    other: Iterable[tuple[UsageKey, Demand]] = (),
) -> tuple[Usage, ...]:
    """Usage of every namespace and queue with GPUs before or after. Reports namespaces over their quota.

    `other` is the demand of objects that are not runs, after the merge.
    """
    before: dict[UsageKey, Load] = {}
    after: dict[UsageKey, Load] = {}
    requested: Requested = Counter()
    for key, demand in other:
        if demand.gpus:
            after[key] = after.get(key, Load()) + demand
        add_request(requested, (key.overlay, key.namespace), demand.gpus, demand.pods, demand.accelerators)
    for run in runs:
        left = version_after(run, overlays)
        _warn_may_still_run(run, overlays, found)
        for version, loads in ((run.before, before), (left, after)):
            if version is not None and version.counts and version.demand.gpus:
                key = UsageKey(run.key.scope, run.key.namespace, version.queue)
                loads[key] = loads.get(key, Load()) + version.demand
        if left is not None and left.counts:
            asked = left.demand
            add_request(requested, (run.key.scope, run.key.namespace), asked.gpus, asked.pods, asked.accelerators)
    rows = tuple(
        Usage(
            key,
            before.get(key, Load()),
            after.get(key, Load()),
            _quotas(overlays, key.overlay, key.namespace).get(GPUS),
        )
        for key in sorted(before.keys() | after.keys())
    )
    hint = "suspend some of its jobs, or set those that have ended to `finished` in a later change, or raise"
    check_quotas(requested, overlays.values(), found, "would request", hint)
    return rows


def version_after(run: RunChange, overlays: Mapping[str, Overlay]) -> RunVersion | None:
    """The run after the merge. One that becomes a record while it is active counts, because it may be running."""
    if run.action is not RunAction.RETIRED or run.before is None or not run.before.active:
        return run.after
    scope, namespace = run.key.scope, run.key.namespace
    grant = overlays[scope].grant(namespace) if scope in overlays else None
    return run.after if grant is not None and grant.trust_finished else run.before


def _warn_may_still_run(run: RunChange, overlays: Mapping[str, Overlay], found: Findings) -> None:
    scope, namespace = run.key.scope, run.key.namespace
    counts = run.before is not run.after and version_after(run, overlays) is run.before
    if counts and _quotas(overlays, scope, namespace):
        message = f"`{run.key}` may still be running; later plans do not count it in the quota of `{namespace}`"
        hint = "set `state: suspended` first, or set `trustFinished: true` for the namespace in the overlay"
        found.warning(MAY_STILL_RUN, Location(run.pair.object.path), message, hint)


def _quotas(overlays: Mapping[str, Overlay], overlay: str, namespace: str) -> Mapping[Quota, int]:
    return quotas(overlays[overlay], namespace) if overlay in overlays else {}


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
