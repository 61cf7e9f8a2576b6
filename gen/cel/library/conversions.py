"""Conversions between types. From the `ConvertToType` methods of `common/types` of cel-go."""

from __future__ import annotations

import math
from typing import Any

from gen.cel.errors import CelError
from gen.cel.functions import function, text_work
from gen.cel.library.times import checked_timestamp, parse_duration, parse_timestamp, show_duration, show_timestamp
from gen.cel.types import Type
from gen.cel.values import Duration, Timestamp, UInt, checked_int, checked_uint, type_of
from gen.regex import regex

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
def _same(value: Any) -> Any:
    return value


@function("int(double) int")
def _int_of_double(value: float) -> int:
    if math.isnan(value) or not -(2.0**63) < value < 2.0**63:
        raise CelError("integer overflow")
    return int(value)


@function("int(uint) int")
def _int_of_uint(value: UInt) -> int:
    return checked_int(int(value))


@function("int(string) int", work=text_work)
def _int_of_text(value: str) -> int:
    if not _INTEGER.fullmatch(value) or len(value) > _MAX_DIGITS:
        raise CelError(f'strconv.ParseInt: parsing "{value}": invalid syntax')
    return checked_int(int(value))


@function("int(timestamp) int")
def _int_of_time(value: Timestamp) -> int:
    return int(value) // 10**9


@function("int(duration) int")
def _int_of_duration(value: Duration) -> int:
    return int(value)


@function("uint(int) uint")
def _uint_of_int(value: int) -> UInt:
    return checked_uint(value)


@function("uint(double) uint")
def _uint_of_double(value: float) -> UInt:
    if math.isnan(value) or not 0 <= value < 2.0**64:
        raise CelError("unsigned integer overflow")
    return UInt(value)


@function("uint(string) uint", work=text_work)
def _uint_of_text(value: str) -> UInt:
    if not value.isascii() or not value.isdigit() or len(value) > _MAX_DIGITS:
        raise CelError(f'strconv.ParseUint: parsing "{value}": invalid syntax')
    return checked_uint(int(value))


@function("double(int) double", "double(uint) double")
def _double_of_int(value: int) -> float:
    return float(value)


@function("double(string) double", work=text_work)
def _double_of_text(value: str) -> float:
    if not _DOUBLE.fullmatch(value):
        raise CelError(f'strconv.ParseFloat: parsing "{value}": invalid syntax')
    return float(value)


@function("bool(string) bool", work=text_work)
def _bool_of_text(value: str) -> bool:
    if value not in _BOOLEANS:
        raise CelError(f'strconv.ParseBool: parsing "{value}": invalid syntax')
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


@function("string(int) string", "string(uint) string")
def _text_of_int(value: int) -> str:
    return str(int(value))


@function("string(bool) string")
def _text_of_bool(value: bool) -> str:
    return "true" if value else "false"


@function("string(double) string")
def _text_of_double(value: float) -> str:
    return show_double(value)


@function("string(bytes) string", work=text_work)
def _text_of_bytes(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise CelError("invalid UTF-8 in bytes, cannot convert to string") from None


@function("string(timestamp) string")
def _text_of_time(value: Timestamp) -> str:
    return show_timestamp(value)


@function("string(duration) string")
def _text_of_duration(value: Duration) -> str:
    return show_duration(value)


@function("bytes(string) bytes", work=text_work)
def _bytes_of_text(value: str) -> bytes:
    return value.encode()


@function("timestamp(string) timestamp")
def _time_of_text(value: str) -> Timestamp:
    return parse_timestamp(value)


@function("timestamp(int) timestamp")
def _time_of_int(value: int) -> Timestamp:
    return checked_timestamp(value * 10**9)


@function("duration(string) duration")
def _duration_of_text(value: str) -> Duration:
    return parse_duration(value)


@function("duration(int) duration")
def _duration_of_int(value: int) -> Duration:
    return Duration(value)


@function("type(A) type")
def _type(value: Any) -> Type:
    return type_of(value)
