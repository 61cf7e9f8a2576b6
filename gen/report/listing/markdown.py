"""Jobs as a Markdown table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.report.listing.columns import shown_columns, totals
from gen.report.markdown import code_span, table_cell

if TYPE_CHECKING:
    from gen.inventory.listing import Listing


def as_markdown(listing: Listing) -> str:
    lines = []
    shown = shown_columns(listing)
    for number, row in enumerate(zip(*shown, strict=True)):
        texts = row if number == 0 else [table_cell(text) if text else "" for text in row]
        lines += [f"| {' | '.join(texts)} |", *(["|" + "---|" * len(shown)] if number == 0 else [])]
    lines += ["", *(f"- {code_span(str(one.place))}: {code_span(one.message)}" for one in listing.findings)]
    first, *costs = totals(listing)
    lines += ["", first, *(["", *(f"- {code_span(line)}" for line in costs)] if costs else [])]
    return "\n".join([*lines, ""]).lstrip("\n")
