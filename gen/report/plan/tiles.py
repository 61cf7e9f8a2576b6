"""Numbers at the top of the page: those of the summary, the important one of each first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gen.report.plan.cost_phrases import bill_phrase, months
from gen.report.plan.phrases import summary
from gen.report.templates import Phrase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.review.review import Review


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A number with its title, and what there is to say about it."""

    title: Phrase
    value: Phrase
    note: Phrase


def tiles(review: Review) -> Iterator[Tile]:
    """The rows of the summary, without TensorBoards if there are none."""
    for title, text in summary(review):
        value, note = _parts(title, text, review)
        if (title, value) == ("TensorBoards", "none"):
            continue
        yield Tile(title=title, value=Phrase(value), note=Phrase(note))


def _parts(title: str, text: str, review: Review) -> tuple[str, str]:
    if title == "Runs":
        parts = text.split(", ")
        return ", ".join(parts[:2]), ", ".join(parts[2:])
    if title == "Cost":
        bill = bill_phrase(review.bill) if review.bill is not None else ""
        return (
            (f"{months(review)}", f"active runs in a month, at most; {bill}".rstrip("; "))
            if review.costs
            else (bill, "")
        )
    for mark in ("; ", ": "):
        if mark in text:
            value, _, note = text.partition(mark)
            return value, _without_zeros(note)
    return _without_zeros(text) or "none", ""


def _without_zeros(text: str) -> str:
    return ", ".join(part for part in text.split(", ") if not part.startswith("0 "))
