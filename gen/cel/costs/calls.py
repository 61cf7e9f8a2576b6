"""Costs of functions of API servers, and sizes of their results.

From `EstimateCallCost` of `apiserver/pkg/cel/library/cost.go`, `ext/sets.go` and `ext/lists.go` of cel-go. A function
that is neither here nor in `builtin.py` costs 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from gen.cel.costs.sizes import NOTHING, ONE, UNLIMITED, Size, plus, scaled, times
from gen.cel.costs.values import Estimate
from gen.cel.frame import LIST_COST
from gen.cel.functions import COSTS_TEXT

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.cel.costs.values import Given, Value

PATTERN_COST: Final = 0.25
"""Of one character of a regular expression (`RegexStringLengthCostFactor` of `common/cost.go` of cel-go)."""
_NAMED_PATTERN: Final = 128
"""Characters of the pattern of a format (`MaxNameFormatRegexSize` of `apiserver/pkg/cel/limits.go`)."""
_NAMED_FORMAT: Final = 64
_ADDRESS: Final = Size(4, 16)
"""Bytes."""
_PAIRWISE: Final = 2.0


def matched(text: Size, pattern: Size) -> int:
    """The cost of matching a text, which counts one character more than it has, so that it is never 0."""
    return times(text.plus(ONE).read(COSTS_TEXT), pattern.read(PATTERN_COST))


def _list_or_text(given: Given) -> Estimate | None:
    target = given.target
    if target is None:
        return None
    if not target.type.of:
        return Estimate(target.size.read(COSTS_TEXT))
    each = 1
    if target.type.of[0].name in {"string", "bytes"}:
        each = plus(each, given.size_of_items(target).read(COSTS_TEXT))
    return Estimate(times(target.size.most, each))


def _first_argument(factor: float, *, sized: bool = False) -> Callable[[Given], Estimate | None]:
    def estimate(given: Given) -> Estimate | None:
        if not given.arguments:
            return None
        size = given.arguments[0].size
        return Estimate(size.read(factor), size if sized else None)

    return estimate


def _copied(given: Given) -> Estimate | None:
    if given.target is None:
        return None
    return Estimate(given.target.size.read(COSTS_TEXT), given.target.size)


def _replace(given: Given) -> Estimate | None:
    if given.target is None or len(given.arguments) < 2:  # noqa: PLR2004 - old, new
        return None
    size, old, new = given.target.size, given.arguments[0].size, given.arguments[1].size
    if old.least == 0:
        most = plus(times(plus(size.most, 1), new.most), size.most)
    elif new.most <= old.least:
        most = size.most
    else:
        most = times(math.ceil(float(size.most) / old.least), new.most)
    if old.most == 0:
        least = plus(times(plus(size.least, 1), new.least), size.least)
    elif old.most <= new.least:
        least = size.least
    else:
        least = times(math.ceil(float(size.least) / old.most), new.least)
    return Estimate(size.read(2 * COSTS_TEXT), Size(least, most))


def _split(given: Given) -> Estimate | None:
    if given.target is None:
        return None
    most = given.target.size.most
    if len(given.arguments) > 1 and type(given.arguments[1].literal) is int:
        most = given.arguments[1].literal % (UNLIMITED + 1)
    return Estimate(given.target.size.read(2 * COSTS_TEXT), Size(0, most))


def _join(given: Given) -> Estimate | None:
    if given.target is None:
        return None
    items = given.target.size
    size = items.times(given.size_of_items(given.target)) if given.target.type.of else NOTHING
    if given.arguments:
        between = Size(max(items.least - 1, 0), max(items.most - 1, 0))
        size = size.plus(given.arguments[0].size.times(between))
    return Estimate(size.read(COSTS_TEXT), size)


def _find(given: Given) -> Estimate | None:
    if given.target is None or not given.arguments:
        return None
    size = given.target.size
    return Estimate(matched(size, given.arguments[0].size), Size(0, size.most))


def _contained(*, network: bool) -> Callable[[Given], Estimate | None]:
    def estimate(given: Given) -> Estimate | None:
        cost = _ADDRESS.plus(_ADDRESS).read(COSTS_TEXT)
        if network:
            cost = plus(cost, _ADDRESS.read(COSTS_TEXT), 1)
        if given.parameter == "string":
            cost = plus(cost, given.arguments[0].size.read(COSTS_TEXT))
        return Estimate(cost)

    return estimate


def _address(given: Given) -> Estimate | None:
    return Estimate(1) if given.target is not None else _first_argument(COSTS_TEXT)(given)


def _validate(given: Given) -> Estimate | None:
    text = given.arguments[0].size.read(COSTS_TEXT)
    return Estimate(scaled(text, _NAMED_PATTERN * PATTERN_COST))


def _equal(given: Given) -> Estimate | None:
    one, other = given.arguments
    if one.type != other.type:
        return None
    if one.type.name in {"net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver"}:
        return Estimate(1)
    if one.type.name == "kubernetes.NamedFormat":
        return Estimate(scaled(_NAMED_FORMAT, COSTS_TEXT))
    if one.type.name == "kubernetes.URL":
        return Estimate((other.known or ONE).read(COSTS_TEXT))
    return None


def _sets(factor: float) -> Callable[[Given], Estimate | None]:
    def estimate(given: Given) -> Estimate | None:
        one, other = given.arguments
        return Estimate(plus(one.size.times(other.size).read(factor), 1))

    return estimate


def _made(size: Size, factor: float = 1.0) -> Estimate:
    """A new list with as many items as it costs."""
    return Estimate(plus(size.read(factor), 1, LIST_COST), size)


def _number(value: Value, otherwise: int) -> int:
    return max(value.literal, 0) if type(value.literal) is int else otherwise


def _slice(given: Given) -> Estimate | None:
    if given.target is None:
        return None
    start, end = given.arguments
    size = (_number(end, given.target.size.most) - _number(start, 0)) % (UNLIMITED + 1)
    return _made(Size(size, size))


def _range(given: Given) -> Estimate | None:
    size = _number(given.arguments[0], UNLIMITED)
    return _made(Size(size, size))


def _flatten(given: Given) -> Estimate | None:
    if given.target is None:
        return None
    return _made(given.target.size, float(_number(given.arguments[0], UNLIMITED) if given.arguments else 1))


def _reverse(given: Given) -> Estimate | None:
    return _made(given.target.size) if given.target is not None else None


def _distinct(given: Given) -> Estimate | None:
    return _made(given.target.size.times(given.target.size), _PAIRWISE) if given.target is not None else None


def _sort(given: Given) -> Estimate | None:
    keys = given.arguments[0] if given.arguments else given.target
    if keys is None or given.overload is None:
        return None
    text = given.overload.parameters[-1].of[0].name in {"string", "bytes"}
    return _made(keys.size.times(keys.size), _PAIRWISE + COSTS_TEXT if text else _PAIRWISE)


CALLS: Final[dict[str, Callable[[Given], Estimate | None]]] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _list_or_text),
    "url": _first_argument(COSTS_TEXT, sized=True),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim"), _copied),
    "replace": _replace,
    "split": _split,
    "join": _join,
    **dict.fromkeys(("find", "findAll"), _find),
    **dict.fromkeys(("cidr", "isIP", "isCIDR"), _first_argument(COSTS_TEXT)),
    "ip": _address,
    "ip.isCanonical": _first_argument(2 * COSTS_TEXT),
    "containsIP": _contained(network=False),
    "containsCIDR": _contained(network=True),
    **dict.fromkeys(("quantity", "isQuantity", "semver", "isSemver"), _first_argument(COSTS_TEXT)),
    "validate": _validate,
    "_==_": _equal,
    "sets.contains": _sets(1),
    "sets.intersects": _sets(1),
    "sets.equivalent": _sets(2),
    "slice": _slice,
    "flatten": _flatten,
    "lists.range": _range,
    "reverse": _reverse,
    "distinct": _distinct,
    "sort": _sort,
    "@sortByAssociatedKeys": _sort,
}
"""By the name of the function."""
