"""CEL rules of definitions, evaluated by cel-python. A rule that it cannot evaluate is said, never passed over."""

from __future__ import annotations

import re
import signal
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from celpy import Runner

_CHAIN = re.compile(r"\bhas\(((?:\w+\.)+\w+)\.(\w+)\)")
"""Of `has(a.b.c)` a server says that it fails without `a.b`; the library, that there is none."""

_SIGNS = {"__dash__": "-", "__dot__": ".", "__slash__": "/", "__underscores__": "__"}
_KEYWORDS = (
    *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop"),
    *("namespace", "null", "package", "return", "true", "var", "void", "while"),
)
_NAME = rf"(?:\w*(?:{'|'.join(_SIGNS)})\w*|__(?:{'|'.join(_KEYWORDS)})__)"
_ESCAPED = re.compile(rf"\.({_NAME})\b")
_HAS_ESCAPED = re.compile(rf"\bhas\(((?:\w+\.)*\w+)\.({_NAME})\)")
"""Names of fields that are no identifiers, as a server lets rules write them (Kubernetes' documentation of
CustomResourceDefinitions, "Escaping of properties")."""

_SECONDS = 2.0
"""For one rule on one value."""
_spent: set[str] = set()
"""Rules that once took longer, and are not tried again."""

_MISSING = "no such member"
_UNKNOWN = ("undeclared reference", "no matching overload")


_BROKEN = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError)
"""What the library falls over by itself with expressions that it does not expect."""


class NotEvaluatedError(Exception):
    """The rule uses something of CEL that only a server knows."""


def holds(expression: str, value: Any) -> bool:
    """Whether a rule holds for what is there. An error in evaluating counts as not, as for a server."""
    # where no definition has rules it is not needed
    from celpy.adapter import json_to_cel  # noqa: PLC0415
    from celpy.celparser import CELParseError  # noqa: PLC0415
    from celpy.evaluation import CELEvalError, CELSyntaxError, CELUnsupportedError  # noqa: PLC0415

    if expression in _spent:
        raise NotEvaluatedError(expression)
    try:
        with _budget():
            return bool(_program(expression).evaluate({"self": json_to_cel(value)}))
    except _SpentError as error:
        _spent.add(expression)
        raise NotEvaluatedError(expression) from error
    except CELEvalError as error:
        if _MISSING not in str(error) and any(words in str(error) for words in _UNKNOWN):
            raise NotEvaluatedError(expression) from error
        return False
    except (CELParseError, CELSyntaxError, CELUnsupportedError, *_BROKEN) as error:
        raise NotEvaluatedError(expression) from error


class _SpentError(BaseException):
    """Of no kind that the library catches."""


@contextmanager
def _budget() -> Iterator[None]:
    """A server gives a rule a budget, too. Without signals, as in a thread, there is none."""

    def stop(*_: object) -> None:
        raise _SpentError

    try:
        before = signal.signal(signal.SIGALRM, stop)
    except ValueError:  # not the main thread
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@lru_cache(maxsize=1024)
def _program(expression: str) -> Runner:
    expression = _HAS_ESCAPED.sub(lambda match: f'("{_written(match[2])}" in {match[1]})', expression)
    expression = _ESCAPED.sub(lambda match: f'["{_written(match[1])}"]', expression)
    strict = _CHAIN.sub(r"(has(\1) ? has(\1.\2) : \1.\2 == null)", expression)
    program: Runner = _environment().program(_environment().compile(strict))
    return program


def _written(name: str) -> str:
    """The name of a field as objects have it."""
    if name.startswith("__") and name[2:-2] in _KEYWORDS:
        return name[2:-2]
    for escaped, sign in _SIGNS.items():
        name = name.replace(escaped, sign)
    return name


@lru_cache(maxsize=1)
def _environment() -> Any:
    import celpy  # noqa: PLC0415 - as above

    return celpy.Environment()
