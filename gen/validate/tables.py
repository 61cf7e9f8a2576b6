"""Checks by field: what a rule says of single values is a table from the path of a field to the form it must have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gen.diagnostics import Route

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.validate.forms import Check

Faults = Iterator[tuple[Route, str]]
"""Routes to values that an API server refuses, each with a sentence."""


class Table:
    """Paths such as `ports.*.protocol`, where `*` is every entry of a list or mapping, each with a check."""

    __slots__ = ("_rows",)

    def __init__(self, checks: Mapping[str, Check]) -> None:
        self._rows = tuple((tuple(path.split(".")), check) for path, check in checks.items())

    def faults(self, value: Any, route: Route) -> Faults:
        """What is wrong below `value`, which lies at `route`. A field that is not there has no fault."""
        for steps, check in self._rows:
            for at, found in find(value, route, steps):
                fault = check(found)
                if fault is not None:
                    yield at, fault


def find(value: Any, route: Route, steps: tuple[str, ...]) -> Iterator[tuple[Route, Any]]:
    """Every value at a path, with the route to it."""
    if not steps:
        yield route, value
        return
    step, rest = steps[0], steps[1:]
    if step == "*":
        pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, inner in pairs:
            yield from find(inner, (*route, key), rest)
    elif isinstance(value, dict) and step in value:
        yield from find(value[step], (*route, step), rest)


def doubled(items: Any, route: Route, *fields: str) -> Iterator[tuple[Route, tuple[Any, ...]]]:
    """Entries of a list that say the same in all `fields` as an entry before, with what they say."""
    seen = set()
    for index, item in enumerate(items or ()):
        key = tuple(item.get(field) for field in fields)
        if key in seen:
            yield (*route, index), key
        seen.add(key)
