"""Operators. From `common/stdlib/standard.go` of cel-go."""

from __future__ import annotations

import math
from typing import Any, Final

from gen.cel.errors import CelError
from gen.cel.functions import COSTS_TEXT, function, size_of, text_work
from gen.cel.library.times import checked_duration, checked_timestamp
from gen.cel.values import (
    MIN_INT,
    Duration,
    Timestamp,
    UInt,
    checked_int,
    checked_uint,
    compare,
    contains,
    lookup,
)

_ORDERED: Final = ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")
_PAIRS: Final = (
    *((one, one) for one in _ORDERED),
    *((one, other) for one in ("int", "uint", "double") for other in ("int", "uint", "double") if one != other),
)


def _special(*_: Any) -> Any:
    """Evaluated without a call (`gen/cel/evaluate.py`)."""
    raise NotImplementedError


function("_||_(bool, bool) bool", "_&&_(bool, bool) bool", "@not_strictly_false(bool) bool")(_special)
function("_?_:_(bool, A, A) A", "_==_(A, A) bool", "_!=_(A, A) bool")(_special)
function("_[_](list(A), int) A", "_[_](map(A, B), A) B", "_[_](optional(list(A)), int) optional(A)")(_special)
function("_[_](optional(map(A, B)), A) optional(B)")(_special)
function("_[?_](list(A), int) optional(A)", "_[?_](map(A, B), A) optional(B)")(_special)
function("_[?_](optional(list(A)), int) optional(A)", "_[?_](optional(map(A, B)), A) optional(B)")(_special)
function("@append(list(A), A) list(A)", "@insert(map(A, B), A, B) map(A, B)")(_special)
function("@insert(map(A, B), map(A, B)) map(A, B)")(_special)


def _orders(sign: str, *accepted: int) -> None:
    def check(one: Any, other: Any) -> bool:
        if one != one or other != other:  # noqa: PLR0124 - NaN
            return False
        return compare(one, other) in accepted

    function(*(f"_{sign}_({one}, {other}) bool" for one, other in _PAIRS), work=_shorter)(check)


def _shorter(*values: Any) -> float:
    return min(map(text_work, values))


_orders("<", -1)
_orders("<=", -1, 0)
_orders(">", 1)
_orders(">=", 1, 0)


@function("!_(bool) bool")
def _not(value: bool) -> bool:
    return not value


@function("-_(int) int")
def _negative(value: int) -> int:
    return checked_int(-value)


@function("-_(double) double")
def _negative_double(value: float) -> float:
    return -value


@function("_+_(int, int) int")
def _add(one: int, other: int) -> int:
    return checked_int(one + other)


@function("_-_(int, int) int")
def _subtract(one: int, other: int) -> int:
    return checked_int(one - other)


@function("_*_(int, int) int")
def _multiply(one: int, other: int) -> int:
    return checked_int(one * other)


def _truncated(one: int, other: int) -> int:
    quotient = abs(one) // abs(other)
    return quotient if (one < 0) == (other < 0) else -quotient


@function("_/_(int, int) int")
def _divide(one: int, other: int) -> int:
    if other == 0:
        raise CelError("division by zero")
    return checked_int(_truncated(one, other))


@function("_%_(int, int) int")
def _modulus(one: int, other: int) -> int:
    if other == 0:
        raise CelError("modulus by zero")
    if one == MIN_INT and other == -1:
        raise CelError("integer overflow")
    return one - other * _truncated(one, other)


@function("_+_(uint, uint) uint")
def _add_uint(one: UInt, other: UInt) -> UInt:
    return checked_uint(int(one) + int(other))


@function("_-_(uint, uint) uint")
def _subtract_uint(one: UInt, other: UInt) -> UInt:
    return checked_uint(int(one) - int(other))


@function("_*_(uint, uint) uint")
def _multiply_uint(one: UInt, other: UInt) -> UInt:
    return checked_uint(int(one) * int(other))


@function("_/_(uint, uint) uint")
def _divide_uint(one: UInt, other: UInt) -> UInt:
    if other == 0:
        raise CelError("division by zero")
    return UInt(int(one) // int(other))


@function("_%_(uint, uint) uint")
def _modulus_uint(one: UInt, other: UInt) -> UInt:
    if other == 0:
        raise CelError("modulus by zero")
    return UInt(int(one) % int(other))


@function("_+_(double, double) double")
def _add_double(one: float, other: float) -> float:
    return one + other


@function("_-_(double, double) double")
def _subtract_double(one: float, other: float) -> float:
    return one - other


@function("_*_(double, double) double")
def _multiply_double(one: float, other: float) -> float:
    return one * other


@function("_/_(double, double) double")
def _divide_double(one: float, other: float) -> float:
    if other != 0:
        return one / other
    if one == 0 or math.isnan(one):
        return math.nan
    return math.copysign(math.inf, one) * math.copysign(1, other)


@function("_+_(string, string) string", "_+_(bytes, bytes) bytes", work=text_work)
def _join(one: Any, other: Any) -> Any:
    return one + other


@function("_+_(list(A), list(A)) list(A)", work=text_work)
def _join_lists(one: list[Any], other: list[Any]) -> list[Any]:
    return [*one, *other]


@function("_+_(timestamp, duration) timestamp", "_+_(duration, timestamp) timestamp")
def _later(one: int, other: int) -> Timestamp:
    return checked_timestamp(int(one) + int(other))


@function("_-_(timestamp, duration) timestamp")
def _earlier(one: Timestamp, other: Duration) -> Timestamp:
    return checked_timestamp(int(one) - int(other))


@function("_+_(duration, duration) duration")
def _longer(one: Duration, other: Duration) -> Duration:
    return checked_duration(int(one) + int(other))


@function("_-_(duration, duration) duration", "_-_(timestamp, timestamp) duration")
def _difference(one: int, other: int) -> Duration:
    return checked_duration(int(one) - int(other))


@function("@in(A, list(A)) bool", work=lambda _, items: size_of(items) * COSTS_TEXT + len(items))
def _in_list(value: Any, items: list[Any]) -> bool:
    return contains(items, value)


@function("@in(A, map(A, B)) bool")
def _in_map(value: Any, entries: dict[Any, Any]) -> bool:
    return lookup(entries, value) is not None
