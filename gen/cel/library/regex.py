"""Regular expressions, by RE2 like in an API server, so that no pattern takes exponential time."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import re2

from gen.cel.errors import CelError, NotEvaluatedError
from gen.cel.functions import COSTS_TEXT, function

if TYPE_CHECKING:
    from collections.abc import Iterator

_SMALL_PROGRAM: Final = 500
"""Instructions of a regular expression that are not charged."""


@lru_cache(maxsize=128)
def compiled(pattern: str) -> Any:
    """A compiled pattern. CelError if it is not valid."""
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    try:
        return re2.compile(pattern, options=options)
    except (re2.error, ValueError) as error:
        reason = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else str(error)
        if "too large" in reason:  # a server has no such limit, so no operator may absorb the error
            raise NotEvaluatedError("a regular expression is too large") from None
        raise CelError(f"error parsing regexp: {reason}") from None


def _work(text: str, pattern: str, *_: Any) -> float:
    """Cost of a match (`CostTracker` of `apiserver/pkg/cel/library/cost.go`)."""
    large: float = max(compiled(pattern).programsize - _SMALL_PROGRAM, 0) * COSTS_TEXT
    return (len(text) + 1) * COSTS_TEXT * max(len(pattern) * 0.25, 1) + large


@function("string::matches(string) bool", "matches(string, string) bool", work=_work)
def _matches(text: str, pattern: str) -> bool:
    return compiled(pattern).search(text) is not None


@function("string::find(string) string", work=_work)
def _find(text: str, pattern: str) -> str:
    match = compiled(pattern).search(text)
    return str(match[0]) if match is not None else ""


@function("string::findAll(string) list(string)", "string::findAll(string, int) list(string)", work=_work, after=len)
def _find_all(text: str, pattern: str, count: int = -1) -> list[str]:
    found: list[str] = []
    for one in _each(text, pattern):
        if len(found) == count:
            break
        found.append(one)
    return found


def _each(text: str, pattern: str) -> Iterator[str]:
    for match in compiled(pattern).finditer(text):
        yield str(match[0])
