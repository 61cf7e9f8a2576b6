"""Syntax, names and types of CEL expressions in policies, webhooks and definitions."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from typing import Final

from gen.base import near, regex
from gen.kubernetes.cel.environment import Environment
from gen.kubernetes.cel.values import Type
from gen.kubernetes.cel.variables import admission_environment
from gen.kubernetes.rules import Fault, unknown_name

_UNDECLARED = regex(r"undeclared reference to '([\w.]+)'")
_FIELD = regex(r"undefined field '([\w.]+)'")
BOOLEAN: Final = frozenset({"bool"})
_OTHER_LANGUAGES: Final = {
    **dict.fromkeys(("beginswith", "hasprefix"), "startsWith"),
    "hassuffix": "endsWith",
    **dict.fromkeys(("len", "length", "count"), "size"),
    "includes": "contains",
    **dict.fromkeys(("lower", "tolower", "tolowercase"), "lowerAscii"),
    **dict.fromkeys(("upper", "toupper", "touppercase"), "upperAscii"),
    **dict.fromkeys(("match", "test", "regex"), "matches"),
}
"""Functions of CEL by their names in other languages, in lower case."""


def syntax_fault(
    expression: str, names: AbstractSet[str], types: AbstractSet[str] | None = BOOLEAN, *, minor: int = 0
) -> Fault | None:
    """The fault of an expression over some names that must have one of some types; None for any type.

    `minor` is the version of Kubernetes that gets the expression; 0 for all functions of CEL.
    """
    if not expression.strip():
        return Fault((), "the expression is empty", "write a CEL expression")
    return typed_fault(expression, admission_environment(names, minor=minor), types)[0]


def typed_fault(
    expression: str, environment: Environment, types: AbstractSet[str] | None = BOOLEAN, *, escaped_names: bool = False
) -> tuple[Fault | None, Type | None]:
    """The fault of an expression, and its type; no fault if the expression is nested too deeply to be checked."""
    from gen.kubernetes.cel.program import checked_tree
    from gen.kubernetes.cel.values import CompileError, NotEvaluatedError, UnavailableError

    try:
        found = checked_tree(expression, environment, escaped_names=escaped_names)[1].type
    except NotEvaluatedError:
        return None, None
    except UnavailableError as error:
        return _unavailable(error.name, error.since), None
    except CompileError as error:
        return _fault(error.message, expression, environment), None
    if types is not None and found.name.replace("null", "null_type") not in types:
        expected = " or ".join(sorted(types))
        hint = f"write an expression of the type {expected}, such as a comparison" if "bool" in types else "use a text"
        return Fault((), f"the type of the expression is {found}; expected {expected}", hint), None
    return None, found


def _fault(message: str, expression: str, environment: Environment) -> Fault:
    if (match := _UNDECLARED.search(message)) is not None and match[1] not in environment.variables:
        if re.search(rf"\b{re.escape(match[1])}\(", expression):
            return _unknown_function(match[1])
        known = sorted(name for name in environment.variables if "." not in name)
        return unknown_name(f"unknown name `{match[1]}` in the expression", match[1], known, "use one of the variables")
    if (match := _FIELD.search(message)) is not None:
        known = sorted({name for fields in environment.messages.values() for name in fields})
        hint = "use a field that the type has"
        return unknown_name(f"unknown field `{match[1]}` in the expression", match[1], known, hint)
    if message.startswith("Syntax error"):
        text = message.removeprefix("Syntax error: ").replace("'", "`")
        return Fault((), f"not a valid CEL expression: {text}", "correct its syntax: brackets, quotes and operators")
    if message.startswith("invalid "):
        hint = "correct the regular expression, the duration or the timestamp"
        return Fault((), f"invalid CEL expression: {message}", hint)
    return Fault((), f"invalid CEL expression: {message}", "correct the types of the expression")


def _unavailable(name: str, since: int | None) -> Fault:
    if since is None:
        return Fault((), f"API servers do not have `{name}` of CEL", "write the expression without it")
    message = f"`{name}` in a new expression requires Kubernetes 1.{since}"
    return Fault((), message, "write the expression without it, or correct the Kubernetes version")


def _unknown_function(name: str) -> Fault:
    from gen.kubernetes.cel.environment import FUNCTIONS

    guess = _OTHER_LANGUAGES.get(name.lower()) or near(name, [known for known in FUNCTIONS if known[0].isalpha()])
    hint = f"did you mean `{guess}`?" if guess else "use a function of API servers, such as `startsWith` or `matches`"
    return Fault((), f"unknown function `{name}` in the expression", hint)
