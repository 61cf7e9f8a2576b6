"""Labels and label selectors: whether they are valid.

From `apimachinery/pkg/apis/meta/v1/validation/validation.go` and `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.rules.fault import Fault, not_one_of
from gen.rules.name_checks import label_value, qualified_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults

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
    fault = qualified_name(entry.get("key", ""))
    if fault is not None:
        yield fault.at((*route, "key"))
    values = entry.get("values") or []
    yield from number_of_values(entry.get("operator", ""), values, route, operators)
    for index, value in enumerate(() if any_value else values):
        fault = label_value(value)
        if fault is not None:
            yield fault.at((*route, "values", index))


def number_of_values(
    operator: str, values: list[Any], route: Route, operators: Mapping[str, tuple[int, int | None]]
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
