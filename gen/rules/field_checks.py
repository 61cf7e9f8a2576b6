"""Checks by field: what a rule says of single values is a table from the path of a field to the form it must have."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from gen.diagnostics import Route
from gen.rules.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gen.rules.value_checks import Check


class FieldChecks:
    """Paths such as `ports.*.protocol`, where `*` is every entry of a list or mapping, each with a check."""

    __slots__ = ("_root",)

    def __init__(self, checks: Mapping[str, Check]) -> None:
        self._root = _Step()
        for path, check in checks.items():
            step = self._root
            for name in path.split("."):
                step = step.below(name)
            step.check = check

    def faults(self, value: Any, route: Route) -> list[Fault]:
        """What is wrong below `value`, which lies at `route`. A field that is not there has no fault."""
        found: list[Fault] = []
        self._root.look(value, route, found)
        return found


class _Step:
    """One step of paths that begin alike, so that each value is only looked for once."""

    __slots__ = ("check", "each", "ends", "named")

    def __init__(self) -> None:
        self.check: Check | None = None
        self.named: dict[str, _Step] = {}
        self.each: _Step | None = None
        self.ends = True
        """Whether no path goes on from here; it is then looked at without a call of its own."""

    def below(self, name: str) -> _Step:
        self.ends = False
        if name == "*":
            self.each = self.each or _Step()
            return self.each
        return self.named.setdefault(name, _Step())

    def look(self, value: Any, route: Route, found: list[Fault]) -> None:
        """Asked many times for each object: a route is only made for what is wrong, or looked into."""
        if self.check is not None and (fault := self.check(value)) is not None:
            found.append(fault.at(route))
        if value.__class__ is dict:
            named = self.named
            for name in value if len(value) < len(named) else named:
                if name not in value or (step := named.get(name)) is None:
                    continue
                if not step.ends:
                    step.look(value[name], (*route, name), found)
                elif step.check is not None and (fault := step.check(value[name])) is not None:
                    found.append(fault.at((*route, name)))
        if self.each is not None and value.__class__ in _HOLDERS:
            for key, inner in value.items() if value.__class__ is dict else enumerate(value):
                self.each.look(inner, (*route, key), found)


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


def duplicates(items: Any, route: Route, *fields: str) -> Iterator[tuple[Route, tuple[Any, ...]]]:
    """Entries of a list that say the same in all `fields` as an entry before, with what they say."""
    if not items or len(items) == 1:
        return
    with suppress(TypeError):  # a value that no schema has looked at may be a list
        if len({tuple(map(item.get, fields)) for item in items}) == len(items):
            return
    seen = set()
    for index, item in enumerate(items):
        key = tuple(item.get(field) for field in fields)
        known = str(key)
        if known in seen:
            yield (*route, index), key
        seen.add(known)
