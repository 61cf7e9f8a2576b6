"""Functions of lists, sets and optional values, and sizes.

From `apiserver/pkg/cel/library/lists.go`, and `ext/lists.go`, `ext/sets.go` and `cel/library.go` of cel-go.
"""

from __future__ import annotations

from functools import cmp_to_key
from itertools import pairwise
from typing import Any, Final

from gen.kubernetes.cel import values as cel
from gen.kubernetes.cel.environment import COSTS_TEXT, function, since, size_of
from gen.kubernetes.cel.library.times import checked_duration

_optional = since(28)


_optional("optional.of(A) optional(A)")(cel.Optional)
_optional("optional.none() optional(A)")(lambda: cel.NONE)


@_optional("optional.ofNonZeroValue(A) optional(A)")
def _of_non_zero(value: object) -> cel.Optional:
    empty = not value and not isinstance(value, cel.Timestamp | cel.Duration)
    return (
        cel.NONE
        if empty or (isinstance(value, cel.Duration | cel.Timestamp) and int(value) == 0)
        else cel.Optional(value)
    )


_optional("optional(A)::hasValue() bool")(lambda value: value.present)


@_optional("optional(A)::value() A")
def _value(value: cel.Optional) -> Any:
    if not value.present:
        raise cel.CelError("optional.none() dereference")
    return value.value


_optional("optional(A)::orValue(A) A")(lambda value, other: value.value if value.present else other)
_optional("optional(A)::or(optional(A)) optional(A)")(lambda value, other: value if value.present else other)


@_optional("optional.unwrap(list(optional(A))) list(A)", "list(optional(A))::unwrapOpt() list(A)")
def _unwrap(items: list[Any]) -> list[Any]:
    if not all(isinstance(item, cel.Optional) for item in items):
        raise cel.CelError("no such overload")
    return [item.value for item in items if item.present]


_optional("list(A)::first() optional(A)")(lambda items: cel.Optional(items[0]) if items else cel.NONE)
_optional("list(A)::last() optional(A)")(lambda items: cel.Optional(items[-1]) if items else cel.NONE)


_newer = since(34)
_COMPARABLE: Final = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_MAX_RANGE: Final = 1_000_000
_FLAT: Final = 100


def _of_each(method: str, result: str, types: tuple[str, ...] = _COMPARABLE) -> list[str]:
    return [f"list({one})::{method} {result.format(one)}" for one in types]


def _length(items: list[object], *_: object) -> float:
    return len(items)


def _read(items: list[object], *_: object) -> float:
    """Cost of reading each item once; more than its length only for large items."""
    return max(len(items), size_of(items) * COSTS_TEXT)


def _limited(size: int) -> None:
    if size > _MAX_RANGE:
        raise cel.CostError("operation cancelled: actual cost limit exceeded")


function(*_of_each("isSorted()", "bool"), work=_read)(
    lambda items: all(cel.compare(one, other) <= 0 for one, other in pairwise(items))
)


@function("list(int)::sum() int", "list(double)::sum() double", "list(uint)::sum() uint", work=_length)
@function("list(duration)::sum() duration", work=_length)
def _sum(items: list[Any]) -> Any:
    for kind, checked in ((cel.UInt, cel.checked_uint), (cel.Duration, checked_duration)):
        if items and isinstance(items[0], kind):
            if not all(isinstance(item, kind) for item in items):
                raise cel.CelError("no such overload")
            return checked(sum(map(int, items)))
    if any(not isinstance(item, int | float) or isinstance(item, bool) for item in items):
        raise cel.CelError("no such overload")
    total = sum(items)
    return total if isinstance(total, float) else cel.checked_int(total)


def _extreme(name: str, sign: int) -> None:
    def find(items: list[object]) -> Any:
        if not items:
            raise cel.CelError(f"{name} called on empty list")
        best = items[0]
        for item in items[1:]:
            if cel.compare(item, best) == sign:
                best = item
        return best

    function(*_of_each(f"{name}()", "{}"), work=_read)(find)


_extreme("min", -1)
_extreme("max", 1)
function("list(A)::indexOf(A) int", work=_read)(
    lambda items, value: next((index for index, item in enumerate(items) if cel.equal(item, value)), -1)
)
function("list(A)::lastIndexOf(A) int", work=_read)(
    lambda items, value: next((index for index in range(len(items) - 1, -1, -1) if cel.equal(items[index], value)), -1)
)


@_newer("list(A)::slice(int, int) list(A)", after=_length)
def _slice(items: list[object], start: int, end: int) -> list[object]:
    if start < 0 or end < 0:
        raise cel.CelError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise cel.CelError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if len(items) < end:
        raise cel.CelError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return items[start:end]


@_newer("list(list(A))::flatten() list(A)", "list(dyn)::flatten(int) list(dyn)", after=_length)
def _flatten(items: list[object], depth: int = 1) -> list[object]:
    if depth < 0:
        raise cel.CelError("level must be non-negative")
    for _ in range(min(depth, _FLAT)):
        if not any(isinstance(item, list) for item in items):
            break
        _limited(sum(len(item) if isinstance(item, list) else 1 for item in items))
        items = [inner for item in items for inner in (item if isinstance(item, list) else [item])]
    return items


_newer("list(A)::reverse() list(A)", work=_length)(lambda items: items[::-1])


@_newer("list(A)::distinct() list(A)", work=lambda items: len(items) * _read(items))
def _distinct(items: list[object]) -> list[object]:
    kept: list[object] = []
    for item in items:
        if not cel.contains(kept, item):
            kept.append(item)
    return kept


@_newer("lists.range(int) list(int)", work=lambda size: max(size, 0))
def _range(size: int) -> list[int]:
    _limited(size)
    return list(range(size))


def _quadratic(items: list[object], *_: object) -> float:
    return max(len(items) ** 2, size_of(items) * COSTS_TEXT * len(items).bit_length())


_newer(*_of_each("sort()", "list({})"), work=_quadratic)(lambda items: sorted_by(items, items))


def sorted_by(items: list[object], keys: list[object]) -> list[object]:
    """Items in the order of their keys. CelError for keys of several types."""
    if len({type(key) for key in keys}) > 1:
        raise cel.CelError("list elements must have the same type")

    def order(one: int, other: int) -> int:
        return cel.compare(keys[one], keys[other])

    return [items[index] for index in sorted(range(len(items)), key=cmp_to_key(order))]


_newer(*(f"list(A)::@sortByAssociatedKeys(list({one})) list(A)" for one in _COMPARABLE), work=_quadratic)(sorted_by)


set_function = since(29)


def _product(one: list[object], other: list[object]) -> float:
    return len(one) * len(other) + (size_of(one) * len(other) + size_of(other) * len(one)) * COSTS_TEXT


@set_function("sets.contains(list(A), list(A)) bool", work=_product)
def _contains(items: list[object], others: list[object]) -> bool:
    return all(cel.contains(items, other) for other in others)


@set_function("sets.equivalent(list(A), list(A)) bool", work=_product)
def _equivalent(items: list[object], others: list[object]) -> bool:
    return bool(_contains(items, others) and _contains(others, items))


@set_function("sets.intersects(list(A), list(A)) bool", work=_product)
def _intersects(items: list[object], others: list[object]) -> bool:
    return any(cel.contains(items, other) for other in others)


@function("size(string) int", "size(bytes) int", "size(list(A)) int", "size(map(A, B)) int")
@function("string::size() int", "bytes::size() int", "list(A)::size() int", "map(A, B)::size() int")
def _size(value: Any) -> int:
    return len(value)
