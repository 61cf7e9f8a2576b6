"""What pydantic found, in our words and with the place in the file that the user wrote."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gen.diagnostics import Route, did_you_mean
from gen.model.annotations import fields_at
from gen.model.scalars import empty, shown

if TYPE_CHECKING:
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
    error: ValidationError, model: type[BaseModel], layers: Layers, found: Findings, at: Route = ()
) -> list[Route]:
    """Report each error; `at` is where in `layers` the validated data lies. Returns the routes at fault."""
    routes = []
    for detail in error.errors(include_url=False):
        route = tuple(step for step in detail["loc"] if not _is_choice(step))
        said = _say(detail, route, model)
        on_key = detail["type"] in ("extra_forbidden", "missing") or _KEY in detail["loc"]
        found.error(said.code, layers.place(at + route, key=on_key), said.message, said.hint)
        routes.append(route)
    return routes


def dotted(route: Route) -> str:
    """`env.A`, `tolerations[0].key`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in route)
    return text.removeprefix(".")


_KEY = "[key]"
"""How pydantic says that it is the key of a mapping which is wrong, and not the value."""


def _is_choice(step: str | int) -> bool:
    return step == _KEY or (isinstance(step, str) and step.startswith("<") and step.endswith(">"))


def _say(detail: ErrorDetails, route: Route, model: type[BaseModel]) -> _Said:
    name = f"`{dotted(route)}`"
    kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        known = fields_at(model, route[:-1])
        return _Said("unknown-field", f"unknown field {name}", did_you_mean(str(route[-1]), known))
    if kind == "missing":
        return _Said("missing-field", f"{name} is missing", f"add `{route[-1]}`")
    if empty(value):
        return _Said("no-value", f"{name} has no value", 'give it one, write "" for an empty text, or delete the line')
    if kind == "literal_error":
        allowed = re.findall(r"'([^']*)'", str(context["expected"]))
        return _Said("invalid-value", f"{name} cannot be {shown(value)}", did_you_mean(str(value), allowed))
    if kind == "gen":
        remedy = str(context["remedy"]) or f"write {context['expected']}"
        return _Said("invalid-value", f"{name} {detail['msg']}", remedy)
    expected, remedy = _EXPECTED.get(kind, (detail["msg"], "see `gen schema`"))
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
    "too_long": ("a list with at most {max_length} entries", "remove some"),
    "too_short": ("a list with at least {min_length} entry", "add an entry, or remove the line"),
}
"""pydantic's type of error, what was expected, and what to do."""
