"""Functions of lists. From `apiserver/pkg/cel/library/lists.go`, and `ext/lists.go` of cel-go."""

from __future__ import annotations

from functools import cmp_to_key
from itertools import pairwise
from typing import Any, Final

from gen.cel.errors import CelError, CostError
from gen.cel.functions import COSTS_TEXT, function, since, size_of
from gen.cel.library.times import checked_duration
from gen.cel.values import Duration, UInt, checked_int, checked_uint, compare, contains, equal

_newer = since(34)
_COMPARABLE: Final = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_MAX_RANGE: Final = 1_000_000
_FLAT: Final = 100


def _of_each(method: str, result: str, types: tuple[str, ...] = _COMPARABLE) -> list[str]:
    return [f"list({one})::{method} {result.format(one)}" for one in types]


def _length(items: list[Any], *_: Any) -> float:
    return len(items)


def _read(items: list[Any], *_: Any) -> float:
    """Cost of reading each item once; more than its length only for large items."""
    return max(len(items), size_of(items) * COSTS_TEXT)


def _limited(size: int) -> None:
    if size > _MAX_RANGE:
        raise CostError("operation cancelled: actual cost limit exceeded")


@function(*_of_each("isSorted()", "bool"), work=_read)
def _is_sorted(items: list[Any]) -> bool:
    return all(compare(one, other) <= 0 for one, other in pairwise(items))


@function("list(int)::sum() int", "list(double)::sum() double", "list(uint)::sum() uint", work=_length)
@function("list(duration)::sum() duration", work=_length)
def _sum(items: list[Any]) -> Any:
    for kind, checked in ((UInt, checked_uint), (Duration, checked_duration)):
        if items and isinstance(items[0], kind):
            if not all(isinstance(item, kind) for item in items):
                raise CelError("no such overload")
            return checked(sum(map(int, items)))
    if any(not isinstance(item, int | float) or isinstance(item, bool) for item in items):
        raise CelError("no such overload")
    total = sum(items)
    return total if isinstance(total, float) else checked_int(total)


def _extreme(name: str, sign: int) -> None:
    def find(items: list[Any]) -> Any:
        if not items:
            raise CelError(f"{name} called on empty list")
        best = items[0]
        for item in items[1:]:
            if compare(item, best) == sign:
                best = item
        return best

    function(*_of_each(f"{name}()", "{}"), work=_read)(find)


_extreme("min", -1)
_extreme("max", 1)


@function("list(A)::indexOf(A) int", work=_read)
def _index_of(items: list[Any], value: Any) -> int:
    return next((index for index, item in enumerate(items) if equal(item, value)), -1)


@function("list(A)::lastIndexOf(A) int", work=_read)
def _last_index_of(items: list[Any], value: Any) -> int:
    return next((index for index in range(len(items) - 1, -1, -1) if equal(items[index], value)), -1)


@_newer("list(A)::slice(int, int) list(A)", after=_length)
def _slice(items: list[Any], start: int, end: int) -> list[Any]:
    if start < 0 or end < 0:
        raise CelError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise CelError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if len(items) < end:
        raise CelError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return items[start:end]


@_newer("list(list(A))::flatten() list(A)", "list(dyn)::flatten(int) list(dyn)", after=_length)
def _flatten(items: list[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise CelError("level must be non-negative")
    for _ in range(min(depth, _FLAT)):
        if not any(isinstance(item, list) for item in items):
            break
        _limited(sum(len(item) if isinstance(item, list) else 1 for item in items))
        items = [inner for item in items for inner in (item if isinstance(item, list) else [item])]
    return items


@_newer("list(A)::reverse() list(A)", work=_length)
def _reverse(items: list[Any]) -> list[Any]:
    return items[::-1]


@_newer("list(A)::distinct() list(A)", work=lambda items: len(items) * _read(items))
def _distinct(items: list[Any]) -> list[Any]:
    kept: list[Any] = []
    for item in items:
        if not contains(kept, item):
            kept.append(item)
    return kept


@_newer("lists.range(int) list(int)", work=lambda size: max(size, 0))
def _range(size: int) -> list[int]:
    _limited(size)
    return list(range(size))


def _quadratic(items: list[Any], *_: Any) -> float:
    return max(len(items) ** 2, size_of(items) * COSTS_TEXT * len(items).bit_length())


@_newer(*_of_each("sort()", "list({})"), work=_quadratic)
def _sort(items: list[Any]) -> list[Any]:
    return sorted_by(items, items)


def sorted_by(items: list[Any], keys: list[Any]) -> list[Any]:
    """Items in the order of their keys. CelError for keys of several types."""
    if len({type(key) for key in keys}) > 1:
        raise CelError("list elements must have the same type")

    def order(one: int, other: int) -> int:
        return compare(keys[one], keys[other])

    return [items[index] for index in sorted(range(len(items)), key=cmp_to_key(order))]


_newer(*(f"list(A)::@sortByAssociatedKeys(list({one})) list(A)" for one in _COMPARABLE), work=_quadratic)(sorted_by)
