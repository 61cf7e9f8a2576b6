"""The finding about a file that should contain a mapping and does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import Location
from gen.findings.jobs import INVALID_VALUE
from gen.load.slips import slip_in

if TYPE_CHECKING:
    from gen.diagnostics import Findings
    from gen.load.source import Source


def report_not_a_mapping(source: Source, what: str, found: Findings) -> None:
    """Report the mistake that turned the mapping into a string, if it is known."""
    place, form = source.place(()), "a string" if isinstance(source.data, str) else "a list"
    slip = slip_in(source.data) if isinstance(source.data, str) else None
    if slip is not None:
        here = Location(place.file, place.line, place.column + slip.column)
        found.error(INVALID_VALUE, here, f"{what} must be a mapping: {slip.message}", slip.hint)
        return
    hint = "write `field: value` lines" if form == "a string" else "write `field: value` lines, without `- `"
    found.error(INVALID_VALUE, place, f"{what} must be a mapping of fields, got {form}", hint)
