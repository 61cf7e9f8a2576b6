"""Places in a file as it is, for findings about a changed text that is not written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from gen.line_changes import changed_lines
from gen.model.explain import dotted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gen.diagnostics import Diagnostic, Location, Route
    from gen.line_changes import Lines
    from gen.load import Source


def in_old_file(items: Sequence[Diagnostic], old: Source, new: Source, routes: Sequence[Route]) -> Iterator[Diagnostic]:
    """The findings at their places in the file that exists; `routes` are the fields that were set.

    A finding about such a field names it, because the file shows another value or none. Fixes are for the text that
    is not written, so they are left out.
    """
    if not items:
        return
    of_route = [(route, _set_places(route, old, new)) for route in routes]
    before = old.text.splitlines()
    changes = changed_lines(before, new.text.splitlines())
    for item in items:
        if item.place.file != old.file:
            yield item
            continue
        route = next((route for route, places in of_route if item.place in places), None)
        if route is None:
            line = min(_old_line(item.place.line - 1, changes), max(len(before) - 1, 0)) + 1
            yield replace(item, place=replace(item.place, line=line), fixes=())
        else:
            field = f"`{dotted(route)}`: "
            message = f"after setting {field}{item.message.removeprefix(field)}"
            yield replace(item, place=old.place(route), message=message, fixes=())


def _set_places(route: Route, old: Source, new: Source) -> list[Location]:
    """Places of the field in the new text, and of the mappings that were added around it."""
    existing = old.find(route).steps
    found = [new.find(route[:length]) for length in range(min(existing + 1, len(route)), len(route) + 1)]
    return [place for one in found for place in (one.key, one.value)]


def _old_line(line: int, changes: Iterable[Lines]) -> int:
    """The line of the old text that is equal, or where the new line would be inserted; from 0."""
    added = 0
    for start, end, first, last in changes:
        if line < first:
            break
        if line < last:
            return min(start + line - first, max(end - 1, 0))
        added = last - end
    return line - added
