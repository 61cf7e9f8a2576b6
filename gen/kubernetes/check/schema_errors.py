"""Turn validation errors of JSON Schemas into problems: the rule, the place, and the expected value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from gen.base import Route, did_you_mean, names, regex
from gen.kubernetes.formats import KEYWORD
from gen.kubernetes.rules import Problem
from gen.kubernetes.schemas.kubernetes import TIMES

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

    from gen.kubernetes.schemas.registry import Schema, Schemas

_NAMES = {"object": "a mapping", "array": "a list", "string": "a string", "integer": "an integer"} | {
    "number": "a number",
    "boolean": "`true` or `false`",
    "null": "null",
}
_MAX_SHOWN = 40
"""Characters of a value in a message, enough to recognize it."""
MAX_PROBLEMS = 1000
"""Maximum number of problems of one object. More occur in files that are something else entirely."""


def schema_problems(
    errors: Iterable[tuple[Route, ValidationError]], schema: Schema, schemas: Schemas
) -> Iterator[Problem]:
    """The problems of validation errors, each with its route in the object."""
    found = (problem for route, error in errors for problem in _problems(route, error, schema, schemas))
    return islice(found, MAX_PROBLEMS)


def _problems(route: Route, error: ValidationError, schema: Schema, schemas: Schemas) -> Iterator[Problem]:
    kind = error.kind
    if unexpected := getattr(kind, "unexpected", None):
        known = schemas.fields(schema, route)
        for name in unexpected:
            yield Problem(
                "undefined-field",
                (*route, name),
                f"unknown field `{name}`",
                did_you_mean(name, known, otherwise="remove it"),
            )
    elif (missing := getattr(kind, "property", None)) is not None:
        yield Problem("absent-field", (*route, missing), f"`{missing}` is missing", f"add `{missing}`")
    else:
        yield _of_value(error, kind, route)


def _of_value(error: ValidationError, kind: object, route: Route) -> Problem:
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
    if (example := TIMES.get(getattr(kind, "pattern", ""))) is not None:
        hint = f"remove it, or use a time such as `{example}`"
        return Problem("schema-constraint", route, f"`{_shown(value)}` is not a valid time", hint)
    if getattr(kind, "keyword", None) == KEYWORD:
        return Problem("schema-constraint", route, f"`{_shown(value)}` has not the format `{error.message}`")
    return Problem("schema-constraint", route, " ".join(error.message.split())[:200])


def _of_type(route: Route, value: object, types: Iterable[str]) -> Problem:
    expected = " or ".join(_NAMES.get(name, name) for name in types if name != "null") or "null"
    message = f"expected {expected}, got {_got(value)}"
    text = types and "string" in types and not isinstance(value, dict | list) and value is not None
    what = "a boolean" if isinstance(value, bool) else "a number"
    hint = f"quote it as it is: YAML 1.1 reads the unquoted value as {what}" if text else f"use {expected}"
    if isinstance(value, str) and (meant := _meant(value, [name for name in types if name != "null"], route)):
        hint = f"write `{meant}`"
    return Problem("wrong-type", route, message, hint)


_TRUE, _FALSE = names("true yes on y"), names("false no off n")
_WORDS = regex(r"[\w./:=@%+, -]+")
"""A command that is the same without a shell."""


def _meant(text: str, types: Sequence[str], route: Route) -> str:
    """The value of one type that was probably meant by a text; empty if it is not certain."""
    if len(types) != 1:
        return ""
    if types[0] == "array":
        is_command = route[-1] in ("command", "args") and _WORDS.fullmatch(text) is not None
        return json.dumps(text.split()) if is_command else ""
    if types[0] == "boolean":
        return "true" if text.lower() in _TRUE else "false" if text.lower() in _FALSE else ""
    number = {"integer": r"-?[0-9]{1,18}", "number": r"-?[0-9]{1,18}(?:\.[0-9]{1,18})?"}.get(types[0])
    return text if number is not None and re.fullmatch(number, text) else ""


def _branches(error: ValidationError) -> Iterator[list[str]]:
    """The types that the branches of an `anyOf` or `oneOf` expect."""
    context = getattr(error.kind, "context", None) or ()
    for branch in context:
        for inner in branch:
            types = getattr(inner.kind, "types", None)
            if types is not None:
                yield list(types)


def _got(value: object) -> str:
    if isinstance(value, bool):
        return f"the boolean `{str(value).lower()}`"
    if isinstance(value, str):
        return f"the string `{_shown(value)}`"
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    return "null" if value is None else f"the number `{_shown(value)}`"


def _shown(value: object) -> str:
    text = str(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
