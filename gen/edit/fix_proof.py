"""Whether a fix is kept: its finding is gone, and nothing else is wrong instead."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gen.diagnostics import Move, Respell
from gen.findings.files import TOO_MANY

if TYPE_CHECKING:
    from collections.abc import Collection

    from gen.diagnostics import Diagnostic, Fix


def is_better(item: Diagnostic, fix: Fix, before: Collection[Diagnostic], after: Collection[Diagnostic]) -> bool:
    if isinstance(fix, Move):
        return _errors(after) < _errors(before)
    if any((one.code, one.message, one.place) == (item.code, item.message, item.place) for one in after):
        return False
    known = {(one.code, one.message) for one in before}
    here = (one for one in after if one.is_error and one.place.line == item.place.line)
    return isinstance(fix, Respell) or all((one.code, one.message) in known for one in here)


def are_better(
    edits: list[tuple[Diagnostic, Fix]], before: Collection[Diagnostic], after: Collection[Diagnostic]
) -> bool:
    """Several fixes together must leave no error that was not there before.

    Only a file with too many errors to report can show others, outside of the edited lines.
    """
    if len(edits) == 1:
        return is_better(*edits[0], before, after)
    there = {(one.code, one.message, one.place) for one in after}
    items = [item for item, _ in edits]
    if any((item.code, item.message, item.place) in there for item in items):
        return False
    mended = Counter((item.code, item.message) for item in items if item.is_error)
    errors = Counter((one.code, one.message) for one in before if one.is_error) - mended
    other = Counter((one.code, one.message) for one in after if one.is_error) - errors
    if not other or all(one.code != TOO_MANY.name for one in before):
        return not other
    lines = {item.place.line for item in items}
    return not any((one.code, one.message) in other and one.place.line in lines for one in after)


def _errors(found: Collection[Diagnostic]) -> int:
    return sum(item.is_error for item in found)
