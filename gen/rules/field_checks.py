"""Checks of fields: a table from field paths to value checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.diagnostics import Route
from gen.rules.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gen.rules.fault import Check


class FieldChecks:
    """Checks by path, such as `ports.*.protocol`, where `*` is each entry of a list or mapping."""

    __slots__ = ("_root",)

    def __init__(self, checks: Mapping[str, Check]) -> None:
        self._root = _Step()
        for path, check in checks.items():
            step = self._root
            for name in path.split("."):
                step = step.below(name)
            step.end(check)

    def faults(self, value: Any, route: Route) -> list[Fault]:
        """The faults of all fields below `value`, which is at `route`. Missing fields have none."""
        if self._root.accepts(value):
            return []
        found: list[Fault] = []
        self._root.look(value, route, found)
        return found


class _Step:
    """One step of several paths with a common start, so that each value is looked up only once."""

    __slots__ = ("check", "each", "last", "named")

    def __init__(self) -> None:
        self.check: Check | None = None
        self.named: dict[str, _Step] = {}
        self.each: _Step | None = None
        self.last: Check | None = None
        """The check, if no path continues here: a call of it is all that such a step needs."""

    def end(self, check: Check) -> None:
        """End a path here."""
        self.check = check
        self.last = None if self.named or self.each else check

    def below(self, name: str) -> _Step:
        self.last = None
        if name == "*":
            self.each = self.each or _Step()
            return self.each
        return self.named.setdefault(name, _Step())

    def accepts(self, value: Any) -> bool:
        """Whether a value has no faults. Runs many times for each object, and most have none: it builds no routes."""
        if self.check is not None and self.check(value) is not None:
            return False
        if value.__class__ is dict:
            named = self.named
            for name in value if len(value) < len(named) else named:
                if name in value and (step := named.get(name)) is not None:
                    if (last := step.last) is None:
                        if not step.accepts(value[name]):
                            return False
                    elif last(value[name]) is not None:
                        return False
        return self.each is None or value.__class__ not in _HOLDERS or self._accepts_each(value, self.each)

    def _accepts_each(self, holder: Any, each: _Step) -> bool:
        last = each.last
        for inner in holder.values() if holder.__class__ is dict else holder:
            if last is None:
                if not each.accepts(inner):
                    return False
            elif last(inner) is not None:
                return False
        return True

    def look(self, value: Any, route: Route, found: list[Fault]) -> None:
        """Add the faults of a value that is not accepted."""
        if self.check is not None and (fault := self.check(value)) is not None:
            found.append(fault.at(route))
        if value.__class__ is dict:
            for name in value if len(value) < len(self.named) else self.named:
                if name in value and (step := self.named.get(name)) is not None:
                    step.look(value[name], (*route, name), found)
        if self.each is not None and value.__class__ in _HOLDERS:
            for key, inner in value.items() if value.__class__ is dict else enumerate(value):
                self.each.look(inner, (*route, key), found)


_HOLDERS = (dict, list)


def find(value: Any, route: Route, steps: tuple[str, ...]) -> Iterator[tuple[Route, Any]]:
    """Every value at a path, with its route."""
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
    """Entries of a list with the same values of `fields` as an earlier entry, with these values."""
    if not items or len(items) == 1 or _differ(items, fields):
        return
    seen = set()
    for index, item in enumerate(items):
        key = tuple(item.get(field) for field in fields)
        known = str(key)
        if known in seen:
            yield (*route, index), key
        seen.add(known)


def _differ(items: Any, fields: tuple[str, ...]) -> bool:
    """Whether all entries certainly have different values of some fields."""
    try:
        if len(fields) == 1:
            keys = {item.get(fields[0]) for item in items}
        else:
            keys = {tuple(map(item.get, fields)) for item in items}
    except TypeError:  # unhashable values occur where the schema does not check them
        return False
    return len(keys) == len(items)
