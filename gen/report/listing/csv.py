"""Jobs as CSV, with all columns. Spreadsheets must not run a text as a formula."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from gen.regex import regex
from gen.report.listing.columns import COLUMNS, cells
from gen.report.sanitize import sanitize

if TYPE_CHECKING:
    from gen.inventory.listing import Listing

_FORMULA = regex(r"(?:^|[;\t])\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")
"""Starts of formulas, also of wide characters, and behind separators of some countries (OWASP, "CSV Injection")."""
_NAMES = regex(r"@[\w./@ -]+")
"""Names of code owners, such as `@org/team`. A spreadsheet can call nothing in them."""


def as_csv(listing: Listing) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_inert(sanitize(text)) for text in row] for row in cells(listing))
    return stream.getvalue()


def _inert(text: str) -> str:
    if _FORMULA.search(text) is None or _NAMES.fullmatch(text) is not None:
        return text
    return f"'{text.replace(';', ',')}"
