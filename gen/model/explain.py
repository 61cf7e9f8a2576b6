"""Turn pydantic's validation errors into findings with places in the user's files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gen.diagnostics import Route, did_you_mean
from gen.findings.files import TOO_MANY
from gen.findings.jobs import INVALID_VALUE, MISSING_FIELD, NO_VALUE, UNKNOWN_FIELD
from gen.model.base import LONG, SHORT
from gen.model.certain import certain_fixes
from gen.model.remedies import (
    instead_of_list,
    instead_of_mapping,
    instead_of_path,
    instead_of_scalar,
    meant_value,
    no_value,
    typed_wrong,
)
from gen.model.scalars import clipped, empty, null, shown
from gen.model.suggest import meant_by, suggest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

    from gen.diagnostics import Findings
    from gen.findings.code import Code
    from gen.load import Layers


class _Explanation(Struct, frozen=True, kw_only=True):
    message: str
    hint: str
    code: Code = INVALID_VALUE


def explain(
    error: ValidationError,
    model: type[BaseModel],
    layers: Layers,
    found: Findings,
    hidden: Collection[Route] = (),
    elsewhere: Callable[[str], str] = lambda _: "",
) -> list[Route]:
    """Report each error, and return the routes of the invalid values.

    Errors at a `hidden` route are not reported, because the message would show the value. `elsewhere` is a hint about
    a field that the model does not have, if it means something in others.
    """
    details = [detail for detail in error.errors(include_url=False) if not _is_in(_route(detail), hidden)]
    misnamed = {(*route[:-1], meant_by(model, route)) for route in _unknown(details)}
    details = [detail for detail in details if detail["type"] != "missing" or _route(detail) not in misnamed]
    routes = [_route(detail) for detail in details]
    for detail, route in zip(details[:_MAX_REPORTED], routes, strict=False):
        explanation = _explanation(detail, route, model, elsewhere)
        on_key = detail["type"] in ("extra_forbidden", "missing") or _about_key(detail)
        fixes = certain_fixes(detail, route, model, layers)
        place = layers.place(route, key=on_key)
        found.error(explanation.code, place, explanation.message, explanation.hint, fixes=fixes)
    if len(details) > _MAX_REPORTED:
        more = f"{len(details) - _MAX_REPORTED} more errors in this file"
        found.error(TOO_MANY, layers.place(()), more, "fix the reported errors first; the next run shows the rest")
    return routes


def _unknown(details: list[ErrorDetails]) -> list[Route]:
    routes = (_route(detail) for detail in details[:_MAX_REPORTED] if detail["type"] == "extra_forbidden")
    return [route for route in routes if route]


def _is_in(route: Route, places: Collection[Route]) -> bool:
    return any(route[: len(place)] == place for place in places)


def dotted(route: Route) -> str:
    """`env.A`, `tolerations[0].key`; long keys are cut."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{clipped(step)}" for step in route)
    return text.removeprefix(".")


_MAX_REPORTED = 100
"""Findings per file. A crafted file can have a hundred thousand."""


def _route(detail: ErrorDetails) -> Route:
    steps = detail["loc"][:-1] if _about_key(detail) else detail["loc"]
    return tuple(step for step in steps if step not in (SHORT, LONG))


def _about_key(detail: ErrorDetails) -> bool:
    """Whether the error is about a key of a mapping: pydantic then appends `[key]` to the location."""
    *before, last = detail["loc"] or ("",)
    return last == "[key]" and bool(before) and before[-1] == detail["input"]


def _explanation(
    detail: ErrorDetails, route: Route, model: type[BaseModel], elsewhere: Callable[[str], str]
) -> _Explanation:
    name = f"`{dotted(route)}`"
    kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        hint = "remove it; the folder below `jobs/` is the namespace"
        if route != ("namespace",):
            found = suggest(model, route, value)
            hint = (not found.meant and len(route) == 1 and elsewhere(str(route[0]))) or found.hint
        return _Explanation(code=UNKNOWN_FIELD, message=f"unknown field {name}", hint=hint)
    if kind == "missing":
        return _Explanation(code=MISSING_FIELD, message=f"{name} is missing", hint=f"add `{route[-1]}`")
    if (missing := _missing_value(name, value, route, model)) is not None:
        return missing
    return _invalid_value(kind, name, value, context, route, model)


def _missing_value(name: str, value: object, route: Route, model: type[BaseModel]) -> _Explanation | None:
    """A missing value, which hides any other error."""
    if empty(value):
        return _Explanation(code=NO_VALUE, message=f"{name} has no value", hint=no_value(model, route))
    if null(value):
        hint = "set a value, or delete the line; quote it to get a string"
        return _Explanation(code=NO_VALUE, message=f"{name} has no value; YAML reads `{value}` as null", hint=hint)
    return None


def _invalid_value(
    kind: str, name: str, value: Any, context: dict[str, Any], route: Route, model: type[BaseModel]
) -> _Explanation:
    if kind == "gen":
        meant = instead_of_path(model, route, value)
        meant = meant or (instead_of_mapping(model, route, value) if _is_path(value) else instead_of_scalar(value))
        return _Explanation(message=f"{name}: {context['problem']}", hint=meant or str(context["remedy"]))
    if kind == "literal_error":
        allowed = re.findall(r"'([^']*)'", str(context["expected"]))
        meant = meant_value(str(value), allowed)
        hint = f"did you mean `{meant}`?" if meant else did_you_mean(str(value), allowed)
        return _Explanation(message=f"{name}: invalid value {shown(value)}", hint=hint)
    expected, hint = _EXPECTED.get(kind, ("another value", "run `gen schema` for the supported values"))
    if kind in _MAPPINGS or kind in _LISTS:
        if (slip := typed_wrong(value)) is not None:
            return _Explanation(message=f"{name}: {slip[0]}", hint=slip[1])
        instead = instead_of_mapping if kind in _MAPPINGS else instead_of_list
        hint = instead(model, route, value) or hint
    got = len(value) if kind in _LENGTHS else shown(value)
    return _Explanation(message=f"{name}: expected {expected.format(**context)}, got {got}", hint=hint)


def _is_path(value: Any) -> bool:
    """Whether it is a path instead of a boolean, as in `tensorboard: /logs`."""
    return isinstance(value, str) and value.startswith("/")


_MAPPING = ("a mapping", "write indented `name: value` lines below it")
_LIST = ("a list", "start each entry with `- `, or write `[one, two]`")
_EXPECTED = {
    "model_type": _MAPPING,
    "model_attributes_type": _MAPPING,
    "dict_type": _MAPPING,
    "tuple_type": _LIST,
    "list_type": _LIST,
    "string_type": ("a string", "write a single string"),
    "greater_than_equal": ("at least {ge}", "increase it, or remove the line"),
    "less_than_equal": ("at most {le}", "decrease it, or remove the line"),
    "too_long": ("at most {max_length} entries", "remove some entries"),
    "too_short": ("at least {min_length} entry", "add an entry, or remove the line"),
}
"""Expected value and remedy by pydantic's type of error."""
_MAPPINGS = ("model_type", "model_attributes_type", "dict_type")
_LISTS = ("tuple_type", "list_type")
_LENGTHS = ("too_long", "too_short")
