"""Syntax, names and types of CEL expressions in policies, webhooks and definitions."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Final

from gen.base import near
from gen.kubernetes.cel.environment import Environment
from gen.kubernetes.cel.values import Type
from gen.kubernetes.cel.variables import admission_environment
from gen.kubernetes.rules import Fault, unknown_name

if TYPE_CHECKING:
    from gen.kubernetes.cel.values import CompileError

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
        return _fault(error, expression, environment), None
    if types is not None and found.name.replace("null", "null_type") not in types:
        expected = " or ".join(sorted(types))
        hint = f"write an expression of the type {expected}, such as a comparison" if "bool" in types else "use a text"
        return Fault((), f"the type of the expression is {found}; expected {expected}", hint), None
    return None, found


def _fault(error: CompileError, expression: str, environment: Environment) -> Fault:
    from gen.kubernetes.cel import values as cel

    if isinstance(error, cel.UndeclaredError) and error.name not in environment.variables:
        if re.search(rf"\b{re.escape(error.name)}\(", expression):
            return _unknown_function(error.name)
        known = sorted(name for name in environment.variables if "." not in name)
        return unknown_name(
            f"unknown name `{error.name}` in the expression", error.name, known, "use one of the variables"
        )
    if isinstance(error, cel.UndefinedFieldError):
        known = sorted({name for fields in environment.messages.values() for name in fields})
        hint = "use a field that the type has"
        return unknown_name(f"unknown field `{error.field}` in the expression", error.field, known, hint)
    if isinstance(error, cel.CelSyntaxError):
        text = error.reason.replace("'", "`")
        return Fault((), f"not a valid CEL expression: {text}", "correct its syntax: brackets, quotes and operators")
    hints = {
        cel.InvalidConstantError: "correct the regular expression, the duration or the timestamp",
        cel.InvalidLiteralError: "write a number of 64 bits",
        cel.MacroError: "correct the arguments of the macro",
    }
    hint = hints.get(type(error), "correct the types of the expression")
    return Fault((), f"invalid CEL expression: {error.message}", hint)


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
