"""`format` of strings. From `ext/formatting.go` of cel-go."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final

from gen.cel.errors import CelError
from gen.cel.functions import COSTS_TEXT, function, size_of, text_work
from gen.cel.library.conversions import show_double
from gen.cel.library.times import show_duration, show_timestamp
from gen.cel.types import Type
from gen.cel.values import Duration, Opaque, Timestamp, tag, type_name
from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Callable

_CLAUSE = regex(r"%(?:(?P<percent>%)|(?:\.(?P<precision>[0-9]*))?(?P<clause>.)?)", re.DOTALL)
_PRECISION: Final = 6
_MAX_PRECISION: Final = 1000
_DIGITS: Final = 9
_WRONG: Final = "no such overload"
_LENGTH: Final = 100_000


def _work(text: str, items: list[Any]) -> float:
    return max(text_work(text, items), size_of(items) * COSTS_TEXT)


@function("string::format(list(dyn)) string", work=_work, after=text_work, since=29)
def _format(text: str, items: list[Any]) -> str:
    arguments = iter(range(len(items) + 1))
    size = 0

    def replaced(match: re.Match[str]) -> str:
        nonlocal size
        if match["percent"]:
            return "%"
        index = next(arguments)
        if index >= len(items):
            raise CelError(f"index {index} out of range")
        if match["clause"] is None:
            raise CelError("unexpected end of string")
        precision = int(match["precision"][:_DIGITS]) if match["precision"] else None
        shown = _formatted(match["clause"], items[index], precision)
        size += len(shown)
        if size > _LENGTH * 10:
            raise CelError("operation cancelled: actual cost limit exceeded")
        return shown

    return _CLAUSE.sub(replaced, text)


def _formatted(clause: str, value: Any, precision: int | None) -> str:
    digits = _PRECISION if precision is None else min(precision, _MAX_PRECISION)
    if clause == "s":
        return _string(value)
    if clause == "d":
        return _decimal(value)
    if clause in {"f", "e"}:
        return _floating(clause, value, digits)
    if clause in {"b", "o", "x", "X"}:
        return _in_base(clause, value)
    raise CelError(f'could not parse formatting clause: unrecognized formatting clause "{clause}"')


def _refused(clause: str, given: str, value: Any) -> CelError:
    return CelError(f"error during formatting: {clause} can only be used on {given}, was given {type_name(value)}")


def _string(value: Any) -> str:
    kind = tag(value)
    if kind == "string":
        return str(value)
    if kind == "list":
        return f"[{', '.join(map(_string, value))}]"
    if kind == "map":
        shown = sorted((_string(key), _string(one)) for key, one in value.items())
        return "{" + ", ".join(f"{key}: {one}" for key, one in shown) + "}"
    simple: dict[str, Callable[[], str]] = {
        "null": lambda: "null",
        "bool": lambda: "true" if value else "false",
        "int": lambda: str(value),
        "uint": lambda: str(int(value)),
        "double": lambda: show_double(value),
        "bytes": lambda: value.decode(errors="replace"),
        "timestamp": lambda: show_timestamp(Timestamp(value)),
        "duration": lambda: show_duration(Duration(value)),
        "type": lambda: value.name if isinstance(value, Type) else "",
    }
    if kind in simple:
        return simple[kind]()
    if isinstance(value, Opaque):
        given = "strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
        raise _refused("string clause", given, value)
    if callable(value):  # read now
        return _string(value())
    raise CelError(_WRONG)


def _decimal(value: Any) -> str:
    if tag(value) in {"int", "uint"}:
        return str(int(value))
    if isinstance(value, float) and (math.isnan(value) or math.isinf(value)):
        return _special(value)
    raise _refused("decimal clause", "integers", value)


def _special(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _floating(clause: str, value: Any, digits: int) -> str:
    name = "fixed-point clause" if clause == "f" else "scientific clause"
    if tag(value) not in {"double", "int", "uint"}:
        raise _refused(name, "doubles", value)
    number = float(value)
    if math.isnan(number) or math.isinf(number):
        return _special(number)
    return f"{number:.{digits}{clause}}"


def _in_base(clause: str, value: Any) -> str:
    kind = tag(value)
    if kind in {"int", "uint"}:
        return format(int(value), clause)
    if clause == "b" and kind == "bool":
        return str(int(value))
    if clause in {"x", "X"} and kind in {"string", "bytes"}:
        raw = value.encode() if kind == "string" else value
        return str(raw.hex() if clause == "x" else raw.hex().upper())
    names = {"b": ("binary clause", "integers and bools"), "o": ("octal clause", "integers")}
    name, given = names.get(clause, ("hex clause", "integers, byte buffers, and strings"))
    raise _refused(name, given, value)
