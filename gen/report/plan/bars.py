"""Bars of the chart: amounts before and after, and their limit, as widths between 0 and 1000."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gen.quantity import money
from gen.report.plan.phrases import hours_phrase
from gen.report.templates import Phrase

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gen.review.review import Review

WIDTH: Final = 1000
_FAR: Final = 3
"""A limit that is higher than this many times the largest amount is not drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A row of the chart."""

    names: tuple[str, ...]
    before: int
    after: int
    limit: int
    """Below 0 if it is not drawn."""
    over: bool
    """Whether the amount after the merge exceeds the limit."""
    changed: bool
    amount: Phrase
    limit_text: Phrase
    more: Phrase


@dataclass(frozen=True, slots=True)
class _Row:
    names: tuple[str, ...]
    before: int
    after: int
    limit: int | None
    amount: str
    limit_text: str
    more: str = ""


def usage_bars(review: Review) -> list[Bar]:
    """GPUs by namespace and queue."""
    return _bars(
        _Row(
            (row.key.overlay, row.key.namespace, row.key.queue),
            *(row.before.gpus, row.after.gpus, row.quota),
            *_counts(row.before.gpus, row.after.gpus, row.quota),
            f"{hours_phrase(row.before)} → {hours_phrase(row.after)}",
        )
        for row in review.usage
    )


def device_bars(review: Review) -> list[Bar]:
    """GPUs by accelerator, for accelerators with a name."""
    return _bars(
        _Row(
            (row.overlay, row.namespace, row.accelerator),
            *(row.before, row.after, row.quota),
            *_counts(row.before, row.after, row.quota),
        )
        for row in review.devices
        if row.accelerator
    )


def cost_bars(review: Review) -> list[Bar]:
    """Costs in a month by namespace. Amounts in several currencies have the same scale."""
    return _bars(
        _Row(
            (row.overlay, row.namespace),
            *(row.before.month, row.after.month, row.budget),
            f"{money(row.before.month)} → {money(row.after.month)} {row.currency}",
            "none" if row.budget is None else f"{money(row.budget)} {row.currency}",
        )
        for row in review.costs
    )


def _counts(before: int, after: int, limit: int | None) -> tuple[str, str]:
    return f"{before} → {after}", "none" if limit is None else str(limit)


def _bars(rows: Iterable[_Row]) -> list[Bar]:
    known = list(rows)
    most = max((max(row.before, row.after) for row in known), default=0)
    near = [row.limit for row in known if row.limit is not None and row.limit <= _FAR * most]
    scale = max([most, *near, 1])
    return [
        Bar(
            names=row.names,
            before=row.before * WIDTH // scale,
            after=row.after * WIDTH // scale,
            limit=-1 if row.limit is None or row.limit > scale else row.limit * WIDTH // scale,
            over=row.limit is not None and row.after > row.limit,
            changed=row.before != row.after,
            amount=Phrase(row.amount),
            limit_text=Phrase(row.limit_text),
            more=Phrase(row.more),
        )
        for row in known
    ]
