"""Checks of fields: a table from field paths to value checks, unique keys, labels and label selectors.

From `apimachinery/pkg/apis/meta/v1/validation/validation.go` and `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gen.base import Route, entries
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Check, Fault, Faults, not_one_of, placed
from gen.kubernetes.rules.value_checks import label_value, qualified_name


class FieldChecks:
    """Checks by path, such as `ports.*.protocol`, where `*` is each entry of a list or mapping."""

    __slots__ = ("_root",)

    def __init__(self, checks: Mapping[str, Check]) -> None:
        self._root = _Step()
        for path, check in checks.items():
            step = self._root
            for name in path.split("."):
                step = step.below(name)
            step.check = check

    def faults(self, value: object, route: Route) -> list[Fault]:
        """The faults of all fields below `value`, which is at `route`. Missing fields have none."""
        found: list[Fault] = []
        self._root.look(value, route, found)
        return found


class _Step:
    """One step of several paths with a common start, so that each value is looked up only once."""

    __slots__ = ("check", "each", "named")

    def __init__(self) -> None:
        self.check: Check | None = None
        self.named: dict[str, _Step] = {}
        self.each: _Step | None = None

    def below(self, name: str) -> _Step:
        if name == "*":
            self.each = self.each or _Step()
            return self.each
        return self.named.setdefault(name, _Step())

    def look(self, value: object, route: Route, found: list[Fault]) -> None:
        """Add the faults of a value and of the values below it."""
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


def find(value: object, route: Route, steps: tuple[str, ...]) -> Iterator[tuple[Route, Any]]:
    """Every value at a path, with its route."""
    if not steps:
        yield route, value
        return
    step, rest = steps[0], steps[1:]
    if step == "*":
        for key, inner in entries(value):
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


def unique(items: object, route: Route, field: str, noun: str, hint: str = "rename one of the two") -> list[Fault]:
    """Faults of entries of a list with the same value of a field as an earlier entry."""
    return [
        Fault((*here, field), f"duplicate {noun} `{value}`", hint) for here, (value,) in duplicates(items, route, field)
    ]


def too_many(found: Any, most: int, route: Route, noun: str = "entries") -> Faults:
    """The fault of a list with more than `most` entries."""
    excess = len(found or ()) - most
    if excess > 0:
        yield Fault(route, f"more than {most} {noun}", f"remove {excess} of them")


def filled(holder: Any, route: Route, *fields: str) -> Faults:
    """Faults of fields that a mapping, if there is one, must have with a value."""
    for field in fields if holder is not None else ():
        if not holder.get(field):
            yield Fault((*route, field), f"`{field}` is missing or empty", f"add `{field}`")


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


VALUES = {"In": (1, None), "NotIn": (1, None), "Exists": (0, 0), "DoesNotExist": (0, 0)}
"""Operators, each with the smallest and the largest number of values."""

NODE_VALUES = {**VALUES, "Gt": (1, 1), "Lt": (1, 1)}
"""The same for node selectors."""


def labels(found: Any, route: Route) -> Faults:
    for key, value in (found or {}).items():
        if (fault := qualified_name(key)) is not None:
            yield fault.at((*route, key))
        if (fault := label_value(value)) is not None:
            yield fault.at((*route, key))


def selector(found: Any, route: Route) -> Faults:
    """Faults of a label selector."""
    yield from labels((found or {}).get("matchLabels"), (*route, "matchLabels"))
    for index, entry in enumerate((found or {}).get("matchExpressions") or ()):
        yield from requirement(entry, (*route, "matchExpressions", index), VALUES)


def requirement(
    entry: Body, route: Route, operators: Mapping[str, tuple[int, int | None]], *, any_value: bool = False
) -> Faults:
    """Faults of a key, an operator and values. With `any_value`, as in preferences, the values are not checked."""
    yield from placed(qualified_name(entry.get("key", "")), (*route, "key"))
    values = entry.get("values") or []
    yield from number_of_values(entry.get("operator", ""), values, route, operators)
    for index, value in enumerate(() if any_value else values):
        yield from placed(label_value(value), (*route, "values", index))


def number_of_values(
    operator: str, values: list[object], route: Route, operators: Mapping[str, tuple[int, int | None]]
) -> Faults:
    if operator not in operators:
        yield not_one_of(operator, operators).at((*route, "operator"))
        return
    least, most = operators[operator]
    if len(values) < least:
        yield Fault((*route, "values"), f"`{operator}` requires a value", "add a value to `values`")
    elif most is not None and len(values) > most:
        what = "exactly one value" if most else "no values"
        hint = "keep one entry of `values`" if most else "remove `values`, or use `In` or `NotIn`"
        yield Fault((*route, "values"), f"`{operator}` takes {what}", hint)
