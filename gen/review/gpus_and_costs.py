"""GPUs and monthly costs of active runs before and after a merge: per namespace and queue, compared with quotas and
budgets, and GPUs per accelerator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from gen.base import Findings, Location, at, quoted
from gen.base.codes.grants import OVER_BUDGET, UNKNOWN_COST
from gen.base.codes.rendered import LIMITS_UNKNOWN, MAY_STILL_RUN
from gen.base.repository.git import Base
from gen.base.repository.job_files import overlay_names
from gen.base.repository.layout import OVERLAYS, overlay_file, overlays_path
from gen.kubernetes.facts.demand import Demand
from gen.kubernetes.objects import COMPONENT
from gen.kubernetes.rules import SILENCE
from gen.overlay.costs import RunCost, money
from gen.overlay.overlay import Overlay
from gen.overlay.read import OverlayReader
from gen.render.parts.quota import (
    GPUS,
    Quota,
    Requested,
    Share,
    add_request,
    check_quotas,
    quotas,
    summed,
)
from gen.render.rendered_object import RenderedObject
from gen.render.results import RunResult
from gen.review.rendered_trees import match_objects, read_trees
from gen.review.run_versions import RunVersion
from gen.review.runs import RunAction, RunChange, run_changes
from gen.review.sources import job_file


class Load(Struct, frozen=True):
    """Total demand of the active runs in a namespace and queue."""

    gpus: int = 0
    gpu_hours: float = 0.0
    """Maximum, without the runs that have no time limit."""
    unbounded: int = 0
    """Runs with GPUs and without a time limit."""

    def __add__(self, demand: Demand) -> Load:
        hours = demand.gpu_hours
        return Load(self.gpus + demand.gpus, self.gpu_hours + (hours or 0.0), self.unbounded + (hours is None))


class UsageKey(Struct, frozen=True, order=True):
    """The namespace and queue that GPUs are counted for."""

    overlay: str
    namespace: str
    queue: str
    """Empty for runs without a queue."""


class Usage(Struct, frozen=True):
    """Load of one namespace and queue, before and after."""

    key: UsageKey
    before: Load
    after: Load
    quota: int | None
    """GPUs that the overlay grants the namespace, over all queues; None without a quota."""
    total: tuple[int, int]
    """GPUs of the namespace over all queues, before and after."""


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
    former: Requested = Counter()
    shares: dict[tuple[str, str, Quota], list[Share]] = {}
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
        asked = _requested(run, run.before)
        amounts = asked, asked if left is run.before else _requested(run, left)
        former.update(amounts[0])
        requested.update(amounts[1])
        place = Location(job_file(run.pair.object) or run.pair.object.path)
        for quota, amount in amounts[1].items():
            more = place if amount > amounts[0][quota] else None
            shares.setdefault(quota, []).append(Share(name=f"{run.key.namespace}/{run.job}", amount=amount, place=more))
    totals = _totals(before), _totals(after)
    rows = tuple(
        Usage(
            key,
            before.get(key, Load()),
            after.get(key, Load()),
            _quotas(overlays, key.overlay, key.namespace).get(GPUS),
            (totals[0][key.overlay, key.namespace], totals[1][key.overlay, key.namespace]),
        )
        for key in sorted(before.keys() | after.keys())
    )
    by_job = {key: summed(items) for key, items in shares.items()}
    check_quotas(requested, overlays.values(), found, lambda *key: by_job.get(key, ()), "would request", former)
    return rows


def _requested(run: RunChange, version: RunVersion | None) -> Requested:
    """Requests of a version of a run that count for the quotas of its namespace."""
    requested: Requested = Counter()
    if version is not None and version.counts:
        demand = version.demand
        add_request(requested, (run.key.scope, run.key.namespace), demand.gpus, demand.pods, demand.accelerators)
    return requested


def requested_at_base(root: Path, base: Base, overlays: Mapping[str, Overlay]) -> Requested:
    """Requests of the active runs at the base, with the pods of TensorBoards."""
    requested: Requested = Counter()
    pairs = match_objects(read_trees(root, base, Findings()), Findings(), {})
    for run in run_changes(pairs, overlays, Findings()):
        if run.before is not None and run.before.counts:
            requested.update(_requested(run, run.before))
    for pair in pairs:
        if pair.before is not None and is_tensorboard(pair.before):
            add_request(requested, (pair.before.key.scope, pair.before.key.namespace), 0, 1, {})
    return requested


def excuse_unraised_quotas(rendering: RunResult, root: Path, base: Base) -> None:
    """Turn errors about quotas into warnings where the namespace requests no more than at the base."""
    overlays = {overlay.name: overlay for overlay in OverlayReader(root, Findings()).read()}
    before = requested_at_base(root, base, overlays)
    items = rendering.findings.items
    for one in rendering.over_quota:
        if one.amount <= before[one.key]:
            items[items.index(one.error)] = one.excused


def is_tensorboard(one: RenderedObject) -> bool:
    """Found in the text, so that unchanged objects need not be parsed."""
    return one.key.kind == "Deployment" and f"\n    {COMPONENT}: tensorboard\n" in one.text


def _totals(loads: Mapping[UsageKey, Load]) -> Counter[tuple[str, str]]:
    """GPUs by overlay and namespace."""
    totals: Counter[tuple[str, str]] = Counter()
    for key, load in loads.items():
        totals[key.overlay, key.namespace] += load.gpus
    return totals


def version_after(run: RunChange, overlays: Mapping[str, Overlay]) -> RunVersion | None:
    """The run after the merge. One that becomes a record while it is active counts, because it may be running."""
    if run.action is not RunAction.RETIRED or run.before is None or not run.before.active:
        return run.remains
    scope, namespace = run.key.scope, run.key.namespace
    grant = overlays[scope].grant(namespace) if scope in overlays else None
    return run.after if grant is not None and grant.trust_finished else run.before


def _warn_may_still_run(run: RunChange, overlays: Mapping[str, Overlay], found: Findings) -> None:
    if run.before is run.after or version_after(run, overlays) is not run.before:
        return
    scope, namespace = run.key.scope, run.key.namespace
    after = run.pair.after.metadata if run.pair.after is not None else None
    ended = str(at(after, "annotations", f"{SILENCE}{MAY_STILL_RUN.name}") or "")
    if run.key.name not in ended.split() and _quotas(overlays, scope, namespace):
        message = f"`{run.key}` may still be running; later plans do not count it in the quota of `{namespace}`"
        hint = "end it with `gen stop JOB` instead, or set `trustFinished: true` for the namespace in the overlay"
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


def removed_overlays(root: Path, base: Base, scopes: Iterable[str]) -> dict[str, Overlay]:
    """The overlays among `scopes` that the merge removes, by name: their prices count for the runs that it stops.

    One that needs another removed file, such as a patch, is left out: the costs of its runs are unknown. Read other
    overlays after these: the kinds of the last ones are those that gen knows.
    """
    gone = set(scopes).difference(overlay_names(root, Findings()))
    files = base.files(OVERLAYS) if gone else {}
    entries = {name: files.get(overlay_file(name)) for name in sorted(gone)}
    removed = {name: one for name, one in entries.items() if one is not None and one.is_regular}
    texts = base.blobs(one.digest for one in removed.values())
    found: dict[str, Overlay] = {}
    for name, one in removed.items():
        own = Findings()
        overlay = OverlayReader(root, own).of_text(name, texts[one.digest].decode("utf-8", "surrogateescape"))
        if overlay is not None and not own.failed():
            found[name] = overlay
    return found


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
            quota=_quotas(overlays, place[0], place[1]).get(("accelerators", place[2])),
        )
        for place in sorted(before.keys() | after.keys())
        if before[place] or after[place]
    )


_NAMES = 3
"""Names that a message lists."""


class Spending(Struct, frozen=True):
    """Maximum monthly cost of the active runs of a namespace, in hundredths."""

    month: int = 0
    unbounded: tuple[str, ...] = ()
    """Runs without a time limit, which count for the whole month."""
    unpriced: frozenset[str] = frozenset()
    """Accelerators without a price, which are not counted."""

    def plus(self, name: str, cost: RunCost) -> Spending:
        unbounded = (*self.unbounded, name) if cost.run is None else self.unbounded
        return Spending(self.month + cost.month, unbounded, self.unpriced.union(cost.unpriced))


class NamespaceCost(Struct, frozen=True, kw_only=True):
    """Costs of a namespace before and after the merge, with the prices of the work tree."""

    overlay: str
    namespace: str
    currency: str
    before: Spending
    after: Spending
    budget: int | None
    """Hundredths in a month; None without a budget."""

    @property
    def over_budget(self) -> bool:
        return self.budget is not None and self.after.month > self.budget


def cost_changes(
    runs: Iterable[RunChange], overlays: Mapping[str, Overlay], found: Findings
) -> tuple[NamespaceCost, ...]:
    """Costs of the namespaces with active runs before or after, in overlays with prices. Reports budgets."""
    before: dict[tuple[str, str], Spending] = {}
    after: dict[tuple[str, str], Spending] = {}
    for run in runs:
        place = run.key.scope, run.key.namespace
        for version, known in ((run.before, before), (version_after(run, overlays), after)):
            if version is not None and version.counts and (cost := _priced(version)) is not None:
                known[place] = known.get(place, Spending()).plus(version.name, cost)
    rows = tuple(
        _row(overlays[place[0]], place[1], before.get(place, Spending()), after.get(place, Spending()))
        for place in sorted(before.keys() | after.keys())
    )
    for row in rows:
        _check_budget(row, overlays[row.overlay], found)
    return rows


def _priced(version: RunVersion) -> RunCost | None:
    """The cost of a run with devices."""
    cost = version.cost
    return cost if cost is not None and (version.demand.gpus or cost.month) else None


def _row(overlay: Overlay, namespace: str, before: Spending, after: Spending) -> NamespaceCost:
    grant = overlay.grant(namespace)
    assert overlay.prices is not None  # runs of other overlays have no cost
    return NamespaceCost(
        overlay=overlay.name,
        namespace=namespace,
        currency=overlay.prices.currency,
        before=before,
        after=after,
        budget=int(grant.budget * 100) if grant is not None and grant.budget is not None else None,
    )


def _check_budget(row: NamespaceCost, overlay: Overlay, found: Findings) -> None:
    if row.budget is None:
        return
    key = row.namespace if row.namespace in overlay.fields.namespaces else "*"
    place = overlay.place("namespaces", key, "budget")
    who = f"the active jobs of namespace `{row.namespace}` in overlay `{row.overlay}`"
    if row.over_budget:
        endless = quoted(row.after.unbounded, _NAMES)
        amount = f"{money(row.after.month)} {row.currency}"
        message = f"{who} can cost {amount} in a month; its budget is {money(row.budget)} {row.currency}"
        hint = "lower `timeout`, `gpus` or `workers`, end some of its runs with `gen stop JOB`, or raise `budget`"
        if endless:
            hint = (
                f"set a `timeout`, without `cleanup: None`, for {endless}, which count for the whole month, or {hint}"
            )
        report = found.error if row.after.month > row.before.month else found.warning
        report(OVER_BUDGET, place, message, hint)
    if row.after.unpriced:
        names = quoted((name or "an undeclared device" for name in sorted(row.after.unpriced)), _NAMES)
        message = f"{who} use devices without a price, which its budget does not count: {names}"
        report = found.error if row.after.unpriced - row.before.unpriced else found.warning
        report(UNKNOWN_COST, place, message, "declare each under `accelerators` with its `price`, or end these runs")
