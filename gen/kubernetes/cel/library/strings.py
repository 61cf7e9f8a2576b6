"""Functions of strings: search, change, format, and regular expressions.

From `common/stdlib/standard.go`, `ext/strings.go` and `ext/formatting.go` of cel-go. Regular expressions are those of
RE2 like in an API server, so no pattern takes exponential time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final

import re2

from gen.base import regex
from gen.kubernetes.cel import values as cel
from gen.kubernetes.cel.environment import COSTS_TEXT, NEVER, function, size_of, text_work
from gen.kubernetes.cel.library.operators import show_double
from gen.kubernetes.cel.library.times import show_duration, show_timestamp

_MAX_TEXT: Final = 8 << 20
"""Characters of a result. An API server would run out of its cost limit before."""
_MAX_PARTS: Final = 1_000_000
_CASES: Final = {
    "lowerAscii": {code: code + 32 for code in range(ord("A"), ord("Z") + 1)},
    "upperAscii": {code: code - 32 for code in range(ord("a"), ord("z") + 1)},
}
_SPACES: Final = " \t\n\v\f\r\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""White space of Unicode (`unicode.IsSpace` of Go)."""


def _limited(size: int) -> None:
    if size > _MAX_TEXT:
        raise cel.CostError("operation cancelled: actual cost limit exceeded")


function("string::startsWith(string) bool", work=lambda _, other: text_work(other))(
    lambda text, other: text.startswith(other)
)
function("string::endsWith(string) bool", work=lambda _, other: text_work(other))(
    lambda text, other: text.endswith(other)
)
function("string::contains(string) bool", work=lambda text, other: len(text) * len(other) * COSTS_TEXT**2)(
    lambda text, other: other in text
)


@function("string::charAt(int) string")
def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise cel.CelError(f"index out of range: {index}")
    return text[index : index + 1]


@function("string::indexOf(string) int", "string::indexOf(string, int) int", work=text_work)
def _index_of(text: str, other: str, offset: int = 0) -> int:
    if not 0 <= offset <= len(text):
        raise cel.CelError(f"index out of range: {offset}")
    return text.find(other, offset)


@function("string::lastIndexOf(string) int", "string::lastIndexOf(string, int) int", work=text_work)
def _last_index_of(text: str, other: str, offset: int | None = None) -> int:
    if offset is not None and not 0 <= offset <= len(text):
        raise cel.CelError(f"index out of range: {offset}")
    return text.rfind(other, 0, None if offset is None else offset + len(other))


def _case(name: str) -> None:
    function(f"string::{name}() string", work=text_work)(lambda text: text.translate(_CASES[name]))


_case("lowerAscii")
_case("upperAscii")
function("string::trim() string", work=text_work)(lambda text: text.strip(_SPACES))


@function(
    "string::replace(string, string) string",
    "string::replace(string, string, int) string",
    work=text_work,
    after=text_work,
)
def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    occurrences = text.count(old) if count < 0 else min(count, text.count(old))
    _limited(len(text) + occurrences * len(new))
    return text.replace(old, new, max(count, -1))


@function("string::split(string) list(string)", "string::split(string, int) list(string)", work=text_work, after=len)
def _split(text: str, separator: str, count: int = -1) -> list[str]:
    if count == 0:
        return []
    if (text.count(separator) if separator else len(text)) > _MAX_PARTS:
        raise cel.CostError("operation cancelled: actual cost limit exceeded")
    if not separator:
        parts = list(text)
        return parts if count < 0 or len(parts) <= count else [*parts[: count - 1], text[count - 1 :]]
    return text.split(separator, count - 1 if count > 0 else -1)


@function("string::substring(int) string", "string::substring(int, int) string", work=lambda text, *_: text_work(text))
def _substring(text: str, start: int, end: int | None = None) -> str:
    last = len(text) if end is None else end
    if not 0 <= start <= len(text):
        raise cel.CelError(f"index out of range: {start}")
    if not 0 <= last <= len(text):
        raise cel.CelError(f"index out of range: {last}")
    if start > last:
        raise cel.CelError(f"invalid substring range. start: {start}, end: {last}")
    return text[start:last]


@function("list(string)::join() string", "list(string)::join(string) string", work=text_work, after=text_work)
def _join(items: list[Any], separator: str = "") -> str:
    if not all(isinstance(item, str) for item in items):
        raise cel.CelError("no such overload")
    _limited(sum(map(len, items)) + len(separator) * len(items))
    return separator.join(items)


function("string::reverse() string", work=text_work, since=NEVER)(lambda text: text[::-1])


_QUOTED: Final = {
    **{ord(char): f"\\{sign}" for char, sign in zip("\a\b\f\n\r\t\v", "abfnrtv", strict=True)},
    ord("\\"): "\\\\",
    ord('"'): '\\"',
}
function("strings.quote(string) string", work=text_work, since=29)(lambda text: f'"{text.translate(_QUOTED)}"')


_CLAUSE = regex(r"%(?:(?P<percent>%)|(?:\.(?P<precision>[0-9]*))?(?P<clause>.)?)", re.DOTALL)
_PRECISION: Final = 6
_MAX_PRECISION: Final = 1000
_DIGITS: Final = 9
_WRONG: Final = "no such overload"
_LENGTH: Final = 100_000


def _format_work(text: str, items: list[object]) -> float:
    return max(text_work(text, items), size_of(items) * COSTS_TEXT)


@function("string::format(list(dyn)) string", work=_format_work, after=text_work, since=29)
def _format(text: str, items: list[object]) -> str:
    arguments = iter(range(len(items) + 1))
    size = 0

    def replaced(match: re.Match[str]) -> str:
        nonlocal size
        if match["percent"]:
            return "%"
        index = next(arguments)
        if index >= len(items):
            raise cel.CelError(f"index {index} out of range")
        if match["clause"] is None:
            raise cel.CelError("unexpected end of string")
        precision = int(match["precision"][:_DIGITS]) if match["precision"] else None
        shown = _formatted(match["clause"], items[index], precision)
        size += len(shown)
        if size > _LENGTH * 10:
            raise cel.CelError("operation cancelled: actual cost limit exceeded")
        return shown

    return _CLAUSE.sub(replaced, text)


def _formatted(clause: str, value: object, precision: int | None) -> str:
    digits = _PRECISION if precision is None else min(precision, _MAX_PRECISION)
    if clause == "s":
        return _string(value)
    if clause == "d":
        return _decimal(value)
    if clause in {"f", "e"}:
        return _floating(clause, value, digits)
    if clause in {"b", "o", "x", "X"}:
        return _in_base(clause, value)
    raise cel.CelError(f'could not parse formatting clause: unrecognized formatting clause "{clause}"')


def _refused(clause: str, given: str, value: object) -> cel.CelError:
    return cel.CelError(
        f"error during formatting: {clause} can only be used on {given}, was given {cel.type_name(value)}"
    )


def _string(value: Any) -> str:
    kind = cel.tag(value)
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
        "timestamp": lambda: show_timestamp(cel.Timestamp(value)),
        "duration": lambda: show_duration(cel.Duration(value)),
        "type": lambda: value.name if isinstance(value, cel.Type) else "",
    }
    if kind in simple:
        return simple[kind]()
    if isinstance(value, cel.Opaque):
        given = "strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
        raise _refused("string clause", given, value)
    if callable(value):  # read now
        return _string(value())
    raise cel.CelError(_WRONG)


def _decimal(value: Any) -> str:
    if cel.tag(value) in {"int", "uint"}:
        return str(int(value))
    if isinstance(value, float) and (math.isnan(value) or math.isinf(value)):
        return _special(value)
    raise _refused("decimal clause", "integers", value)


def _special(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _floating(clause: str, value: Any, digits: int) -> str:
    name = "fixed-point clause" if clause == "f" else "scientific clause"
    if cel.tag(value) not in {"double", "int", "uint"}:
        raise _refused(name, "doubles", value)
    number = float(value)
    if math.isnan(number) or math.isinf(number):
        return _special(number)
    return f"{number:.{digits}{clause}}"


def _in_base(clause: str, value: Any) -> str:
    kind = cel.tag(value)
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
            raise cel.NotEvaluatedError("a regular expression is too large") from None
        raise cel.CelError(f"error parsing regexp: {reason}") from None


def _regex_work(text: str, pattern: str, *_: object) -> float:
    """Cost of a match (`CostTracker` of `apiserver/pkg/cel/library/cost.go`)."""
    large: float = max(compiled(pattern).programsize - _SMALL_PROGRAM, 0) * COSTS_TEXT
    return (len(text) + 1) * COSTS_TEXT * max(len(pattern) * 0.25, 1) + large


function("string::matches(string) bool", "matches(string, string) bool", work=_regex_work)(
    lambda text, pattern: compiled(pattern).search(text) is not None
)


@function("string::find(string) string", work=_regex_work)
def _find(text: str, pattern: str) -> str:
    match = compiled(pattern).search(text)
    return str(match[0]) if match is not None else ""


@function(
    "string::findAll(string) list(string)", "string::findAll(string, int) list(string)", work=_regex_work, after=len
)
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
