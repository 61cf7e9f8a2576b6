"""Operators, and conversions between types.

From `common/stdlib/standard.go` and the `ConvertToType` methods of `common/types` of cel-go.
"""

from __future__ import annotations

import math
from typing import Any, Final

from gen.base import regex
from gen.kubernetes.cel import values as cel
from gen.kubernetes.cel.environment import COSTS_TEXT, function, size_of, text_work
from gen.kubernetes.cel.library import times

_ORDERED: Final = ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")
_PAIRS: Final = (
    *((one, one) for one in _ORDERED),
    *((one, other) for one in ("int", "uint", "double") for other in ("int", "uint", "double") if one != other),
)


def _special(*_: object) -> Any:
    """Evaluated without a call (`gen/kubernetes/cel/evaluate.py`)."""
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
    def check(one: object, other: object) -> bool:
        if one != one or other != other:  # noqa: PLR0124 - NaN
            return False
        return cel.compare(one, other) in accepted

    function(*(f"_{sign}_({one}, {other}) bool" for one, other in _PAIRS), work=_shorter)(check)


def _shorter(*values: object) -> float:
    return min(map(text_work, values))


_orders("<", -1)
_orders("<=", -1, 0)
_orders(">", 1)
_orders(">=", 1, 0)


function("!_(bool) bool")(lambda value: not value)
function("-_(int) int")(lambda value: cel.checked_int(-value))
function("-_(double) double")(lambda value: -value)
function("_+_(int, int) int")(lambda one, other: cel.checked_int(one + other))
function("_-_(int, int) int")(lambda one, other: cel.checked_int(one - other))
function("_*_(int, int) int")(lambda one, other: cel.checked_int(one * other))


def _truncated(one: int, other: int) -> int:
    quotient = abs(one) // abs(other)
    return quotient if (one < 0) == (other < 0) else -quotient


@function("_/_(int, int) int", "_/_(uint, uint) uint")
def _divide(one: int, other: int) -> int:
    if other == 0:
        raise cel.CelError("division by zero")
    quotient = _truncated(one, other)
    return cel.UInt(quotient) if isinstance(one, cel.UInt) else cel.checked_int(quotient)


@function("_%_(int, int) int", "_%_(uint, uint) uint")
def _modulus(one: int, other: int) -> int:
    if other == 0:
        raise cel.CelError("modulus by zero")
    if one == cel.MIN_INT and other == -1:
        raise cel.CelError("integer overflow")
    rest = one - other * _truncated(one, other)
    return cel.UInt(rest) if isinstance(one, cel.UInt) else rest


function("_+_(uint, uint) uint")(lambda one, other: cel.checked_uint(int(one) + int(other)))
function("_-_(uint, uint) uint")(lambda one, other: cel.checked_uint(int(one) - int(other)))
function("_*_(uint, uint) uint")(lambda one, other: cel.checked_uint(int(one) * int(other)))


function("_+_(double, double) double")(lambda one, other: one + other)
function("_-_(double, double) double")(lambda one, other: one - other)
function("_*_(double, double) double")(lambda one, other: one * other)


@function("_/_(double, double) double")
def _divide_double(one: float, other: float) -> float:
    if other != 0:
        return one / other
    if one == 0 or math.isnan(one):
        return math.nan
    return math.copysign(math.inf, one) * math.copysign(1, other)


function("_+_(string, string) string", "_+_(bytes, bytes) bytes", work=text_work)(lambda one, other: one + other)
function("_+_(list(A), list(A)) list(A)", work=text_work)(lambda one, other: [*one, *other])
function("_+_(timestamp, duration) timestamp", "_+_(duration, timestamp) timestamp")(
    lambda one, other: times.checked_timestamp(int(one) + int(other))
)
function("_-_(timestamp, duration) timestamp")(lambda one, other: times.checked_timestamp(int(one) - int(other)))
function("_+_(duration, duration) duration")(lambda one, other: times.checked_duration(int(one) + int(other)))
function("_-_(duration, duration) duration", "_-_(timestamp, timestamp) duration")(
    lambda one, other: times.checked_duration(int(one) - int(other))
)
function("@in(A, list(A)) bool", work=lambda _, items: size_of(items) * COSTS_TEXT + len(items))(
    lambda value, items: cel.contains(items, value)
)
function("@in(A, map(A, B)) bool")(lambda value, entries: cel.lookup(entries, value) is not None)


_INTEGER = regex(r"[+-]?[0-9]+")
_DOUBLE = regex(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[Ii]nf(?:inity)?|[Nn]a[Nn])")
_BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}
_MAX_DIGITS = 400
_BIG = 1e21
_SMALL = 1e-5


@function("int(int) int", "uint(uint) uint", "double(double) double", "string(string) string", "bool(bool) bool")
@function("bytes(bytes) bytes", "timestamp(timestamp) timestamp", "duration(duration) duration", "dyn(A) dyn")
def _same(value: object) -> Any:
    return value


@function("int(double) int")
def _int_of_double(value: float) -> int:
    if math.isnan(value) or not -(2.0**63) < value < 2.0**63:
        raise cel.CelError("integer overflow")
    return int(value)


function("int(uint) int")(lambda value: cel.checked_int(int(value)))


@function("int(string) int", work=text_work)
def _int_of_text(value: str) -> int:
    if not _INTEGER.fullmatch(value) or len(value) > _MAX_DIGITS:
        raise cel.CelError(f'strconv.ParseInt: parsing "{value}": invalid syntax')
    return cel.checked_int(int(value))


function("int(timestamp) int")(lambda value: int(value) // 10**9)
function("int(duration) int")(int)
function("uint(int) uint")(cel.checked_uint)


@function("uint(double) uint")
def _uint_of_double(value: float) -> cel.UInt:
    if math.isnan(value) or not 0 <= value < 2.0**64:
        raise cel.CelError("unsigned integer overflow")
    return cel.UInt(value)


@function("uint(string) uint", work=text_work)
def _uint_of_text(value: str) -> cel.UInt:
    if not value.isascii() or not value.isdigit() or len(value) > _MAX_DIGITS:
        raise cel.CelError(f'strconv.ParseUint: parsing "{value}": invalid syntax')
    return cel.checked_uint(int(value))


function("double(int) double", "double(uint) double")(float)


@function("double(string) double", work=text_work)
def _double_of_text(value: str) -> float:
    if not _DOUBLE.fullmatch(value):
        raise cel.CelError(f'strconv.ParseFloat: parsing "{value}": invalid syntax')
    return float(value)


@function("bool(string) bool", work=text_work)
def _bool_of_text(value: str) -> bool:
    if value not in _BOOLEANS:
        raise cel.CelError(f'strconv.ParseBool: parsing "{value}": invalid syntax')
    return _BOOLEANS[value]


def show_double(value: float) -> str:
    """A double as Go formats it with `%g`."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == int(value) and abs(value) < _BIG:
        return str(int(value)) if value or math.copysign(1, value) > 0 else "-0"
    text = repr(value)
    if "e" in text and _SMALL < abs(value) < _BIG:
        return f"{value:f}".rstrip("0")
    return text


function("string(int) string", "string(uint) string")(lambda value: str(int(value)))
function("string(bool) string")(lambda value: "true" if value else "false")
function("string(double) string")(show_double)


@function("string(bytes) string", work=text_work)
def _text_of_bytes(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise cel.CelError("invalid UTF-8 in bytes, cannot convert to string") from None


function("string(timestamp) string")(times.show_timestamp)
function("string(duration) string")(times.show_duration)
function("bytes(string) bytes", work=text_work)(lambda value: value.encode())
function("timestamp(string) timestamp")(times.parse_timestamp)
function("timestamp(int) timestamp")(lambda value: times.checked_timestamp(value * 10**9))
function("duration(string) duration")(times.parse_duration)
function("duration(int) duration")(cel.Duration)
function("type(A) type")(cel.type_of)
