"""Monthly costs of active runs by namespace, before and after a merge, compared with the budget of the overlay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gen.base import Findings
from gen.base.codes.grants import OVER_BUDGET, UNKNOWN_COST
from gen.kubernetes.facts.cost import RunCost
from gen.kubernetes.quantity import money
from gen.overlay.overlay import Overlay
from gen.review.runs import RunChange, RunVersion
from gen.review.usage import version_after

_NAMES = 3
"""Names that a message lists."""


@dataclass(frozen=True, slots=True)
class Spending:
    """Maximum monthly cost of the active runs of a namespace, in hundredths."""

    month: int = 0
    unbounded: tuple[str, ...] = ()
    """Runs without a time limit, which count for the whole month."""
    unpriced: frozenset[str] = frozenset()
    """Accelerators without a price, which are not counted."""

    def plus(self, name: str, cost: RunCost) -> Spending:
        unbounded = (*self.unbounded, name) if cost.run is None else self.unbounded
        return Spending(self.month + cost.month, unbounded, self.unpriced.union(cost.unpriced))


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceCost:
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
        endless = _listed(row.after.unbounded)
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
        names = _listed([name or "an undeclared device" for name in sorted(row.after.unpriced)])
        message = f"{who} use devices without a price, which its budget does not count: {names}"
        report = found.error if row.after.unpriced - row.before.unpriced else found.warning
        report(UNKNOWN_COST, place, message, "declare each under `accelerators` with its `price`, or end these runs")


def _listed(names: Iterable[str]) -> str:
    several = list(names)
    more = f" and {len(several) - _NAMES} more" if len(several) > _NAMES else ""
    return ", ".join(f"`{name}`" for name in several[:_NAMES]) + more
