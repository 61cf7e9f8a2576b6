"""What pydantic found, in our words and with the place in the file that the user wrote."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gen.diagnostics import Route, did_you_mean
from gen.model.annotations import fields_at
from gen.model.base import LONG, SHORT
from gen.model.scalars import clipped, empty, null, shown

if TYPE_CHECKING:
    from collections.abc import Collection

    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

    from gen.diagnostics import Findings
    from gen.load import Layers


@dataclass(frozen=True, slots=True)
class _Said:
    code: str
    message: str
    hint: str


def explain(
    error: ValidationError,
    model: type[BaseModel],
    layers: Layers,
    found: Findings,
    at: Route = (),
    hidden: Collection[Route] = (),
) -> list[Route]:
    """Report each error; `at` is where in `layers` the validated data lies. Returns the routes at fault.

    Of what lies at a `hidden` route nothing is said, because it would show the value.
    """
    details = [detail for detail in error.errors(include_url=False) if not _is_in(_route(detail), hidden)]
    routes = [_route(detail) for detail in details]
    for detail, route in zip(details[:_MOST], routes, strict=False):
        said = _say(detail, route, model)
        on_key = detail["type"] in ("extra_forbidden", "missing") or _about_key(detail)
        found.error(said.code, layers.place(at + route, key=on_key), said.message, said.hint)
    if len(details) > _MOST:
        more = f"there are {len(details) - _MOST} more mistakes in this file"
        found.error("too-many", layers.place(at), more, "correct these first; the next run shows the others")
    return routes


def _is_in(route: Route, places: Collection[Route]) -> bool:
    return any(route[: len(place)] == place for place in places)


def dotted(route: Route) -> str:
    """`env.A`, `tolerations[0].key`; a name that a line could not hold is cut."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{clipped(step)}" for step in route)
    return text.removeprefix(".")


_MOST = 100
"""Findings of one file; nobody reads more, and a file can be made to have a hundred thousand."""


def _route(detail: ErrorDetails) -> Route:
    steps = detail["loc"][:-1] if _about_key(detail) else detail["loc"]
    return tuple(step for step in steps if step not in (SHORT, LONG))


def _about_key(detail: ErrorDetails) -> bool:
    """Whether pydantic means the key of a mapping and not its value, which it says with `[key]` behind the key."""
    *before, last = detail["loc"] or ("",)
    return last == "[key]" and bool(before) and before[-1] == detail["input"]


def _say(detail: ErrorDetails, route: Route, model: type[BaseModel]) -> _Said:
    name = f"`{dotted(route)}`"
    kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        if route == ("namespace",):
            return _Said("unknown-field", f"unknown field {name}", "the folder below jobs/ is the namespace; remove it")
        known = fields_at(model, route[:-1])
        return _Said("unknown-field", f"unknown field {name}", did_you_mean(str(route[-1]), known))
    if kind == "missing":
        return _Said("missing-field", f"{name} is missing", f"add `{route[-1]}`")
    if (nothing := _nothing(name, value)) is not None:
        return nothing
    return _about(kind, name, value, context)


def _nothing(name: str, value: object) -> _Said | None:
    """Where a value was forgotten, nothing else needs to be said of it."""
    if empty(value):
        return _Said("no-value", f"{name} has no value", 'give it one, write "" for an empty text, or delete the line')
    if null(value):
        hint = "give it a value, or delete the line; quote it if it is meant as a text"
        return _Said("no-value", f"{name} is empty, because `{value}` stands for nothing", hint)
    return None


def _about(kind: str, name: str, value: Any, context: dict[str, Any]) -> _Said:
    if kind in _LENGTHS:
        bound, remedy = _LENGTHS[kind]
        return _Said("invalid-value", f"{name} must have {bound.format(**context)}, and has {len(value)}", remedy)
    if kind == "literal_error":
        allowed = re.findall(r"'([^']*)'", str(context["expected"]))
        return _Said("invalid-value", f"{name} cannot be {shown(value)}", did_you_mean(str(value), allowed))
    if kind == "gen":
        remedy = str(context["remedy"]) or f"write {context['expected']}"
        return _Said("invalid-value", f"{name} must be {context['expected']}, not {context['shown']}", remedy)
    expected, remedy = _EXPECTED.get(kind, ("something else", "see `gen schema`"))
    return _Said("invalid-value", f"{name} must be {expected.format(**context)}, not {shown(value)}", remedy)


_MAPPING = ("a mapping", "write `name: value` lines below it, indented")
_LIST = ("a list", "start each entry with `- `, or write `[one, two]`")
_EXPECTED = {
    "model_type": _MAPPING,
    "model_attributes_type": _MAPPING,
    "dict_type": _MAPPING,
    "tuple_type": _LIST,
    "list_type": _LIST,
    "string_type": ("a text", "write one text"),
    "greater_than_equal": ("at least {ge}", "raise it, or remove the line"),
    "less_than_equal": ("at most {le}", "lower it, or remove the line"),
}
"""pydantic's type of error, what was expected, and what to do."""
_LENGTHS = {
    "too_long": ("at most {max_length} entries", "remove some"),
    "too_short": ("at least {min_length} entry", "add an entry, or remove the line"),
}
"""The same for the number of entries of a list."""
