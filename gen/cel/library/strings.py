"""Functions of strings. From `common/stdlib/standard.go` and `ext/strings.go` of cel-go."""

from __future__ import annotations

from typing import Any, Final

from gen.cel.errors import CelError, CostError
from gen.cel.functions import COSTS_TEXT, NEVER, function, text_work

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
        raise CostError("operation cancelled: actual cost limit exceeded")


@function("string::startsWith(string) bool", work=lambda _, other: text_work(other))
def _starts(text: str, other: str) -> bool:
    return text.startswith(other)


@function("string::endsWith(string) bool", work=lambda _, other: text_work(other))
def _ends(text: str, other: str) -> bool:
    return text.endswith(other)


@function("string::contains(string) bool", work=lambda text, other: len(text) * len(other) * COSTS_TEXT**2)
def _contains(text: str, other: str) -> bool:
    return other in text


@function("string::charAt(int) string")
def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise CelError(f"index out of range: {index}")
    return text[index : index + 1]


@function("string::indexOf(string) int", "string::indexOf(string, int) int", work=text_work)
def _index_of(text: str, other: str, offset: int = 0) -> int:
    if not 0 <= offset <= len(text):
        raise CelError(f"index out of range: {offset}")
    return text.find(other, offset)


@function("string::lastIndexOf(string) int", "string::lastIndexOf(string, int) int", work=text_work)
def _last_index_of(text: str, other: str, offset: int | None = None) -> int:
    if offset is not None and not 0 <= offset <= len(text):
        raise CelError(f"index out of range: {offset}")
    return text.rfind(other, 0, None if offset is None else offset + len(other))


def _case(name: str) -> None:
    function(f"string::{name}() string", work=text_work)(lambda text: text.translate(_CASES[name]))


_case("lowerAscii")
_case("upperAscii")


@function("string::trim() string", work=text_work)
def _trim(text: str) -> str:
    return text.strip(_SPACES)


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
        raise CostError("operation cancelled: actual cost limit exceeded")
    if not separator:
        parts = list(text)
        return parts if count < 0 or len(parts) <= count else [*parts[: count - 1], text[count - 1 :]]
    return text.split(separator, count - 1 if count > 0 else -1)


@function("string::substring(int) string", "string::substring(int, int) string", work=lambda text, *_: text_work(text))
def _substring(text: str, start: int, end: int | None = None) -> str:
    last = len(text) if end is None else end
    if not 0 <= start <= len(text):
        raise CelError(f"index out of range: {start}")
    if not 0 <= last <= len(text):
        raise CelError(f"index out of range: {last}")
    if start > last:
        raise CelError(f"invalid substring range. start: {start}, end: {last}")
    return text[start:last]


@function("list(string)::join() string", "list(string)::join(string) string", work=text_work, after=text_work)
def _join(items: list[Any], separator: str = "") -> str:
    if not all(isinstance(item, str) for item in items):
        raise CelError("no such overload")
    _limited(sum(map(len, items)) + len(separator) * len(items))
    return separator.join(items)


@function("string::reverse() string", work=text_work, since=NEVER)
def _reverse(text: str) -> str:
    return text[::-1]


_QUOTED: Final = {
    **{ord(char): f"\\{sign}" for char, sign in zip("\a\b\f\n\r\t\v", "abfnrtv", strict=True)},
    ord("\\"): "\\\\",
    ord('"'): '\\"',
}


@function("strings.quote(string) string", work=text_work, since=29)
def _quote(text: str) -> str:
    return f'"{text.translate(_QUOTED)}"'
