"""Places in a file as it is, for findings about a changed text that is not written."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gen.model.explain import dotted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gen.diagnostics import Diagnostic, Location, Route
    from gen.load import Source


def in_old_file(item: Diagnostic, old: Source, new: Source, routes: Sequence[Route]) -> Diagnostic:
    """The finding at its place in the file that exists; `routes` are the fields that were set.

    A finding about such a field names it, because the file shows another value or none. Fixes are for the text that
    is not written, so they are left out.
    """
    if item.place.file != old.file:
        return item
    for route in routes:
        if item.place in _set_places(route, old, new):
            field = f"`{dotted(route)}`: "
            message = f"after setting {field}{item.message.removeprefix(field)}"
            return replace(item, place=old.place(route), message=message, fixes=())
    return replace(item, place=_same_line(item.place, old.text, new.text), fixes=())


def _set_places(route: Route, old: Source, new: Source) -> list[Location]:
    """Places of the field in the new text, and of the mappings that were added around it."""
    existing = old.find(route).steps
    found = [new.find(route[:length]) for length in range(min(existing + 1, len(route)), len(route) + 1)]
    return [place for one in found for place in (one.key, one.value)]


def _same_line(place: Location, old: str, new: str) -> Location:
    """The line of the old text that is equal, or where the new line would be inserted."""
    before, after = old.splitlines(), new.splitlines()
    for _, start, end, first, last in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if first <= place.line - 1 < last:
            line = min(start + place.line - 1 - first, max(end - 1, 0), max(len(before) - 1, 0))
            return replace(place, line=line + 1)
    return place
