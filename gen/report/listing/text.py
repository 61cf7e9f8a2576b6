"""Jobs for a terminal: one line each, in columns of equal width. Columns without any text are omitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.report.listing.columns import shown_columns, totals
from gen.report.sanitize import sanitize
from gen.report.text import finding_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.inventory.listing import Listing


def as_text(listing: Listing) -> str:
    return "".join(f"{line}\n" for line in _lines(listing))


def _lines(listing: Listing) -> Iterator[str]:
    columns = [(name.upper(), *map(sanitize, texts)) for name, *texts in shown_columns(listing)]
    widths = [max(map(len, column)) for column in columns]
    for row in zip(*columns, strict=True):
        yield "  ".join(map(str.ljust, row, widths)).rstrip()
    for finding in listing.findings:
        yield from finding_lines(finding)
    yield from map(sanitize, totals(listing))
