"""CEL rules of CustomResourceDefinitions, evaluated by cel-python.

The work for one rule and one object is limited by counting steps and not by time, so that the verdict is the same on
every machine and does not depend on what was evaluated before.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import celpy
from celpy.adapter import json_to_cel
from celpy.celparser import CELParseError
from celpy.evaluation import CELEvalError, CELSyntaxError, CELUnsupportedError

from gen.check.cel_steps import CountingRunner, Steps, TooManyStepsError
from gen.rules.cel_syntax import KEYWORDS, SIGNS, unescaped

if TYPE_CHECKING:
    from lark import Tree

_MAX_DEPTH = 300
"""Nesting of a rule's syntax tree. A deeper one could exceed Python's recursion limit, depending on the caller."""

_CHAIN = re.compile(r"\bhas\(((?:\w+\.)+\w+)\.(\w+)\)")
"""`has(a.b.c)` without `a.b` is an error on an API server, but false in the library."""

_NAME = rf"(?:\w*(?:{'|'.join(SIGNS)})\w*|__(?:{'|'.join(KEYWORDS)})__)"
_ESCAPED = re.compile(rf"\.({_NAME})\b")
_HAS_ESCAPED = re.compile(rf"\bhas\(((?:\w+\.)*\w+)\.({_NAME})\)")
"""Names of fields that are not identifiers, as rules must escape them (Kubernetes' documentation of
CustomResourceDefinitions, "Escaping of properties")."""

_MISSING = "no such member"
_UNKNOWN = ("undeclared reference", "no matching overload")

_BROKEN = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError)
"""Exceptions that the library raises for unexpected expressions."""


class NotEvaluatedError(Exception):
    """The rule uses something that the library does not support, or needs more steps than are left."""


def holds(expression: str, value: Any, steps: Steps) -> bool:
    """Whether a rule holds for a value. An evaluation error counts as false, as on an API server.

    NotEvaluatedError when it cannot be evaluated, or when no steps are left.
    """
    try:
        return bool(_program(expression).run({"self": json_to_cel(value)}, steps))
    except TooManyStepsError as error:
        raise NotEvaluatedError(expression) from error
    except CELEvalError as error:
        if _MISSING not in str(error) and any(words in str(error) for words in _UNKNOWN):
            raise NotEvaluatedError(expression) from error
        return False
    except (CELParseError, CELSyntaxError, CELUnsupportedError, *_BROKEN) as error:
        raise NotEvaluatedError(expression) from error


@lru_cache(maxsize=1024)
def _program(expression: str) -> CountingRunner:
    expression = _HAS_ESCAPED.sub(lambda match: f'("{unescaped(match[2])}" in {match[1]})', expression)
    expression = _ESCAPED.sub(lambda match: f'["{unescaped(match[1])}"]', expression)
    strict = _CHAIN.sub(r"(has(\1) ? has(\1.\2) : \1.\2 == null)", expression)
    tree = _environment().compile(strict)
    if _is_too_deep(tree):
        raise NotEvaluatedError(expression)
    program: CountingRunner = _environment().program(tree)
    return program


def _is_too_deep(tree: Tree[Any]) -> bool:
    level = [tree]
    for _ in range(_MAX_DEPTH):
        level = [child for node in level for child in node.children if hasattr(child, "children")]
        if not level:
            return False
    return True


@lru_cache(maxsize=1)
def _environment() -> Any:
    return celpy.Environment(runner_class=CountingRunner)
