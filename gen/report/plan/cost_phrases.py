"""Costs as phrases. They contain amounts and codes of currencies, and no text from job files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.diagnostics import counted
from gen.quantity import money
from gen.report.templates import Phrase
from gen.resources.cost import MONTH_HOURS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gen.resources.cost import Bill, RunCost
    from gen.review.review import Review
    from gen.review.runs import RunVersion

ASSUMPTIONS: Final = (
    Phrase("a run costs the price of its devices until its time limit; most runs end earlier and cost less"),
    Phrase(f"a month has {MONTH_HOURS} hours, and a run without a time limit takes all of them"),
    Phrase("a schedule counts with its average number of runs in a month"),
    Phrase("CPUs, memory, storage and networks are not included"),
)
"""What the amounts mean."""
_UNPRICED: Final = ", without devices that have no price"


def amounts(given: Mapping[str, int]) -> str:
    """`1,234.50 EUR and 20.00 USD`."""
    return " and ".join(f"{money(value)} {currency}" for currency, value in sorted(given.items()))


def cost_phrase(version: RunVersion) -> Phrase:
    """`at most 24.00 EUR`, or the price of an hour; empty without prices."""
    cost = version.cost
    if cost is None:
        return Phrase("")
    known = f"at most {money(cost.run)} {cost.currency}" if cost.run is not None else _hourly([cost])
    if version.scheduled:
        known += f" each, at most {money(cost.month)} {cost.currency} in a month"
    return Phrase(f"{known}{_UNPRICED if cost.unpriced else ''}")


def costs_phrase(versions: Sequence[RunVersion]) -> Phrase:
    """`cost_phrase` of several runs together."""
    known = [one.cost for one in versions if one.cost is not None]
    bounded, endless = [one for one in known if one.run is not None], [one for one in known if one.run is None]
    parts = [f"at most {_sum((one.currency, one.run or 0) for one in bounded)}"] if bounded else []
    parts += [_hourly(endless)] if endless else []
    return Phrase(", ".join(parts) + (_UNPRICED if any(one.unpriced for one in known) else ""))


def _hourly(costs: Iterable[RunCost]) -> str:
    return f"{_sum((one.currency, one.hour) for one in costs)} an hour"


def _sum(values: Iterable[tuple[str, int]]) -> str:
    total: dict[str, int] = {}
    for currency, value in values:
        total[currency] = total.get(currency, 0) + value
    return amounts(total)


def bill_phrase(bill: Bill) -> str:
    """The cost of starting runs."""
    parts = [f"starting runs cost at most {amounts(bill.amounts)}"] if bill.amounts else []
    if bill.unbounded:
        parts.append(f"{counted(len(bill.unbounded), 'starting run')} without a time limit, so without a bound")
    return " and ".join(parts) + (_UNPRICED if bill.unpriced else "")


def months(review: Review) -> str:
    """`1,000.00 → 2,000.00 EUR`, for each currency."""
    before: dict[str, int] = {}
    after: dict[str, int] = {}
    for row in review.costs:
        before[row.currency] = before.get(row.currency, 0) + row.before.month
        after[row.currency] = after.get(row.currency, 0) + row.after.month
    return " and ".join(f"{money(before[one])} → {money(after[one])} {one}" for one in sorted(before))


def cost_summary(review: Review) -> str:
    """The row of the summary; empty without prices."""
    parts = [bill_phrase(review.bill)] if review.bill is not None else []
    parts += [f"active runs at most {months(review)} in a month"] if review.costs else []
    return "; ".join(parts)
