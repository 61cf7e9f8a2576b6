"""Checks by field: what a rule says of single values is a table from the path of a field to the form it must have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gen.diagnostics import Route

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.validate.forms import Check

Faults = Iterator[tuple[Route, str]]
"""Routes to values that an API server refuses, each with a sentence."""


class Table:
    """Paths such as `ports.*.protocol`, where `*` is every entry of a list or mapping, each with a check."""

    __slots__ = ("_root",)

    def __init__(self, checks: Mapping[str, Check]) -> None:
        self._root = _Step()
        for path, check in checks.items():
            step = self._root
            for name in path.split("."):
                step = step.below(name)
            step.checks.append(check)
        self._root.finish()

    def faults(self, value: Any, route: Route) -> list[tuple[Route, str]]:
        """What is wrong below `value`, which lies at `route`. A field that is not there has no fault."""
        found: list[tuple[Route, str]] = []
        self._root.look(value, route, found)
        return found


class _Step:
    """One step of paths that begin alike, so that each value is only looked for once."""

    __slots__ = ("checks", "each", "leaves", "named")

    def __init__(self) -> None:
        self.checks: list[Check] = []
        self.named: dict[str, _Step] = {}
        self.each: _Step | None = None
        self.leaves: tuple[tuple[str, tuple[Check, ...]], ...] = ()
        """Steps below with which paths end, looked at without a call of their own."""

    def finish(self) -> None:
        ends = {name: step for name, step in self.named.items() if not step.named and step.each is None}
        self.leaves = tuple((name, tuple(step.checks)) for name, step in ends.items())
        self.named = {name: step for name, step in self.named.items() if name not in ends}
        for step in (*self.named.values(), *([self.each] if self.each is not None else [])):
            step.finish()

    def below(self, name: str) -> _Step:
        if name == "*":
            self.each = self.each or _Step()
            return self.each
        return self.named.setdefault(name, _Step())

    def look(self, value: Any, route: Route, found: list[tuple[Route, str]]) -> None:
        _tell(self.checks, value, route, found)
        if value.__class__ is dict:
            for name, checks in self.leaves:
                if name in value:
                    _tell(checks, value[name], (*route, name), found)
            for name, step in self.named.items():
                if name in value:
                    step.look(value[name], (*route, name), found)
        if self.each is not None and value.__class__ in _HOLDERS:
            for key, inner in value.items() if value.__class__ is dict else enumerate(value):
                self.each.look(inner, (*route, key), found)


def _tell(checks: Iterable[Check], value: Any, route: Route, found: list[tuple[Route, str]]) -> None:
    for check in checks:
        fault = check(value)
        if fault is not None:
            found.append((route, fault))


_HOLDERS = (dict, list)


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
        known = str(key)  # a value that no schema has looked at may be a list
        if known in seen:
            yield (*route, index), key
        seen.add(known)
