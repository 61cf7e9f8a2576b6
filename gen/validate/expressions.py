"""CEL rules of definitions, evaluated by cel-python. A rule that it cannot evaluate is said, never passed over."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from celpy import Runner

_CHAIN = re.compile(r"\bhas\(((?:\w+\.)+\w+)\.(\w+)\)")
"""Of `has(a.b.c)` a server says that it fails without `a.b`; the library, that there is none."""

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

    try:
        return bool(_program(expression).evaluate({"self": json_to_cel(value)}))
    except CELEvalError as error:
        if _MISSING not in str(error) and any(words in str(error) for words in _UNKNOWN):
            raise NotEvaluatedError(expression) from error
        return False
    except (CELParseError, CELSyntaxError, CELUnsupportedError, *_BROKEN) as error:
        raise NotEvaluatedError(expression) from error


@lru_cache(maxsize=1024)
def _program(expression: str) -> Runner:
    strict = _CHAIN.sub(r"(has(\1) ? has(\1.\2) : \1.\2 == null)", expression)
    program: Runner = _environment().program(_environment().compile(strict))
    return program


@lru_cache(maxsize=1)
def _environment() -> Any:
    import celpy  # noqa: PLC0415 - as above

    return celpy.Environment()
