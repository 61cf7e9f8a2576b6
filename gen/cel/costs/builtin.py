"""Costs of functions and operators of CEL itself.

From `functionCost` of `checker/cost.go` of cel-go. The costs of `&&`, `||`, conditions and lists are in `estimate.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.cel.costs.calls import matched
from gen.cel.costs.sizes import UNLIMITED, Size, plus, times
from gen.cel.costs.values import Estimate
from gen.cel.functions import COSTS_TEXT

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.cel.costs.values import Given

_TEXTS: Final = frozenset({"string", "bytes"})


def _compared(given: Given) -> Estimate | None:
    if given.parameter not in _TEXTS:
        return None
    return _equality(given)


def _equality(given: Given) -> Estimate:
    one, other = given.arguments
    return Estimate(Size(0, min(one.size.most, other.size.most)).read(COSTS_TEXT))


def _format(given: Given) -> Estimate | None:
    return Estimate(given.target.size.read(COSTS_TEXT)) if given.target is not None else None


def _bytes(given: Given) -> Estimate | None:
    if given.parameter != "string":
        return None
    size = given.arguments[0].size
    return Estimate(size.read(COSTS_TEXT), Size(size.least, size.most * 4 % (UNLIMITED + 1)))


def _string(given: Given) -> Estimate | None:
    if given.parameter != "bytes":
        return None
    size = given.arguments[0].size
    return Estimate(size.read(COSTS_TEXT), Size(size.least // 4, size.most))


def _quote(given: Given) -> Estimate:
    size = given.arguments[0].size
    most = (size.most * 2 + 2) % (UNLIMITED + 1)
    return Estimate(size.read(COSTS_TEXT), Size(plus(size.least, 2), most))


def _affix(given: Given) -> Estimate:
    return Estimate(given.arguments[0].size.read(COSTS_TEXT))


def _in(given: Given) -> Estimate | None:
    return Estimate(given.arguments[1].size.read(1)) if given.parameter == "list" else None


def _matches(given: Given) -> Estimate | None:
    return Estimate(matched(given.target.size, given.arguments[0].size)) if given.target is not None else None


def _contains(given: Given) -> Estimate | None:
    if given.target is None:
        return None
    return Estimate(times(given.target.size.read(COSTS_TEXT), given.arguments[0].size.read(COSTS_TEXT)))


def _joined(given: Given) -> Estimate | None:
    if given.parameter not in {*_TEXTS, "list"}:
        return None
    size = given.arguments[0].size.plus(given.arguments[1].size)
    return Estimate(1 if given.parameter == "list" else size.read(COSTS_TEXT), size)


BUILTIN: Final[dict[str, Callable[[Given], Estimate | None]]] = {
    "format": _format,
    "bytes": _bytes,
    "string": _string,
    "strings.quote": _quote,
    **dict.fromkeys(("startsWith", "endsWith"), _affix),
    "@in": _in,
    "matches": _matches,
    "contains": _contains,
    "_+_": _joined,
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _compared),
    **dict.fromkeys(("_==_", "_!=_"), _equality),
}
"""By the name of the function. None of an estimate is 1."""
