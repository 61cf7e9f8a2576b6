"""Jobs as CSV, with all columns. Spreadsheets must not run a text as a formula."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from gen.report.listing.columns import COLUMNS, cells
from gen.report.sanitize import sanitize

if TYPE_CHECKING:
    from gen.inventory.listing import Listing

_FORMULA = re.compile(r"[=+\-\t\r]|@[^@]*\(")
"""Starts of formulas (OWASP, "CSV Injection"); `@org/team` of a code owner is none."""


def as_csv(listing: Listing) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_inert(sanitize(text)) for text in row] for row in cells(listing))
    return stream.getvalue()


def _inert(text: str) -> str:
    return f"'{text}" if _FORMULA.match(text) else text
