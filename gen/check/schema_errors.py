"""What a schema found, said in words: each fault with the rule that it breaks, where, and what was expected."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from gen.diagnostics import did_you_mean
from gen.rules.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from jsonschema_rs import ValidationError

    from gen.diagnostics import Route
    from gen.schemas.registry import Schema, Schemas

_NAMES = {"object": "a mapping", "array": "a list", "string": "text", "integer": "a whole number"} | {
    "number": "a number",
    "boolean": "`true` or `false`",
    "null": "nothing",
}
_TYPES: dict[type, str] = {dict: "object", list: "array", str: "string"}
_MAX_PROBLEMS = 1000
"""Faults of one object that are looked at; more are of a file that is nothing of the kind."""


def schema_problems(errors: Iterable[ValidationError], schema: Schema, schemas: Schemas) -> Iterator[Problem]:
    """A problem for each fault."""
    return islice((problem for error in errors for problem in _problems(error, schema, schemas)), _MAX_PROBLEMS)


def _problems(error: ValidationError, schema: Schema, schemas: Schemas) -> Iterator[Problem]:
    kind, route = error.kind, tuple(error.instance_path)
    if unexpected := getattr(kind, "unexpected", None):
        known = schemas.fields(schema, route)
        for name in unexpected:
            yield Problem(
                "unknown-field",
                (*route, name),
                f"unknown field `{name}`",
                did_you_mean(name, known, otherwise="remove it"),
            )
    elif (missing := getattr(kind, "property", None)) is not None:
        yield Problem("missing-field", (*route, missing), f"`{missing}` is missing", f"add `{missing}`")
    else:
        yield _of_value(error, kind, route)


def _of_value(error: ValidationError, kind: Any, route: Route) -> Problem:
    value = error.instance
    if (types := getattr(kind, "types", None)) is not None:
        return _of_type(route, value, types)
    if (options := getattr(kind, "options", None)) is not None:
        words = [str(option) for option in options]
        return Problem("not-allowed", route, f"`{_shown(value)}` is not allowed", did_you_mean(str(value), words))
    if type(kind).__name__ in {"OneOfNotValid", "AnyOf"}:
        words = sorted({word for branch in _branches(error) for word in branch})
        if words:
            return _of_type(route, value, words)
    return Problem("invalid-value", route, " ".join(error.message.split())[:200])


def _of_type(route: Route, value: Any, types: Iterable[str]) -> Problem:
    expected = " or ".join(_NAMES.get(name, name) for name in types if name != "null") or "nothing"
    message = f"{_NAMES[_type(value)]}{_what(value)} where {expected} is expected"
    text = types and "string" in types and not isinstance(value, dict | list) and value is not None
    what = "a truth value" if isinstance(value, bool) else "a number"
    hint = f"write it in quotes, as it is: without them YAML 1.1 reads {what}" if text else f"write {expected}"
    return Problem("wrong-type", route, message, hint)


def _branches(error: ValidationError) -> Iterator[list[str]]:
    """The types that the branches of an alternative ask for."""
    context = getattr(error.kind, "context", None) or ()
    for branch in context:
        for inner in branch:
            types = getattr(inner.kind, "types", None)
            if types is not None:
                yield list(types)


def _type(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    return next((name for kind, name in _TYPES.items() if isinstance(value, kind)), "number")


def _what(value: Any) -> str:
    return "" if value is None or isinstance(value, dict | list | bool) else f" (`{_shown(value)}`)"


def _shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:40]}…"  # noqa: PLR2004 - enough to know it by
