"""Costs of runs, with the prices of an overlay.

They are upper bounds from the time of devices, in hundredths of a currency. The amounts of each run are rounded up to
hundredths, so that every sum of them is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from msgspec import Struct

from gen.kubernetes.facts.demand import Demand
from gen.kubernetes.quantity import HOUR, MONTH_HOURS


class Prices(Struct, frozen=True, kw_only=True):
    """Prices of an overlay."""

    currency: str
    per_hour: Mapping[str, Fraction]
    """By accelerator, for those with a price."""


class RunCost(Struct, frozen=True, kw_only=True):
    """Most that a run costs, in hundredths of its currency, without devices that have no price."""

    currency: str
    hour: int
    """One hour with all devices."""
    run: int | None
    """From start to end; None without a time limit. For a schedule, each run."""
    month: int
    """One month. For a schedule, all runs of a month. A run without a time limit takes all of it."""
    unpriced: tuple[str, ...] = ()
    """Accelerators without a price; the name is empty for devices that the overlay does not declare."""


class Bill(Struct, frozen=True, kw_only=True):
    """The costs of several runs."""

    amounts: Mapping[str, int]
    """Most that the runs with a time limit cost, by currency."""
    unbounded: tuple[str, ...]
    """Names of the runs without a time limit."""
    unpriced: tuple[str, ...]
    """Accelerators without a price."""


def run_cost(asked: Demand, prices: Prices, *, at_once: int = 1, a_month: Fraction = Fraction(1)) -> RunCost:
    """The cost of a run. Of a schedule, `at_once` runs can overlap, and `a_month` is their number in a month."""
    per_hour, most, time = prices.per_hour, asked.most, asked.time
    used = sorted(name for name in {**most, **time.seconds, **time.unlimited} if most.get(name, 0))
    priced = [name for name in used if name in per_hour]
    endless = any(per_hour[name] and time.unlimited.get(name, 0) for name in priced)
    return RunCost(
        currency=prices.currency,
        hour=_amount(most[name] * per_hour[name] for name in priced),
        run=None if endless else _amount(per_hour[name] * time.seconds.get(name, 0) / HOUR for name in priced),
        month=_amount(
            per_hour[name] * _month(at_once * most[name], a_month * time.seconds.get(name, 0), time.unlimited.get(name))
            for name in priced
        ),
        unpriced=tuple(name for name in used if name not in per_hour),
    )


def _month(devices: int, seconds: Fraction, unlimited: int | None) -> Fraction:
    """Hours of devices in a month."""
    most = Fraction(devices * MONTH_HOURS)
    return most if unlimited else min(seconds / HOUR, most)


def _amount(parts: Iterable[Fraction]) -> int:
    return -(-sum(parts, Fraction()) * 100 // 1)


def bill(costs: Iterable[tuple[str, RunCost | None]]) -> Bill:
    """The sum over runs with their names. Runs in overlays without prices have no cost."""
    amounts: dict[str, int] = {}
    unbounded: list[str] = []
    unpriced: set[str] = set()
    for name, cost in costs:
        if cost is not None:
            unpriced.update(cost.unpriced)
            if cost.run is None:
                unbounded.append(name)
            else:
                amounts[cost.currency] = amounts.get(cost.currency, 0) + cost.run
    return Bill(amounts=dict(sorted(amounts.items())), unbounded=tuple(unbounded), unpriced=tuple(sorted(unpriced)))


def money(hundredths: int) -> str:
    """`1,234.50`, exactly."""
    return f"{hundredths // 100:,}.{hundredths % 100:02}"
