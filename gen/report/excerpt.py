"""The line of a finding in its file, with marks under the value."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from rich.cells import cell_len

from gen.base import Location, regex
from gen.kubernetes.secrets import known_secrets, shows_secret
from gen.report.escaping import sanitize

_QUOTED: Final = regex(r"'(?:[^']|'')*'|\"(?:[^\"\\]|\\.)*\"")
_PLAIN: Final = regex(r"(?:(?!:(?:\s|$)|\s#|[,\[\]{}]).)+")
_LONG: Final = 1000
"""Characters of a longer line that are looked at."""
_NEAR: Final = 300
"""Of these, the ones before the place."""
_BEFORE: Final = 20
"""Columns of a long line that are shown before the value."""


class Excerpt(Struct, frozen=True):
    """One line, and the columns to mark."""

    text: str
    start: int
    """Columns before the marks."""
    length: int


def excerpt(lines: list[str], place: Location, width: int) -> Excerpt | None:
    """The line of a place in at most `width` columns. None if there is none, or if it could show a secret."""
    if not 0 < place.line <= len(lines):
        return None
    whole = lines[place.line - 1].rstrip("\r\n")
    skipped = max(place.column - 1 - _NEAR, 0) if len(whole) > _LONG else 0
    line = whole[skipped : skipped + _LONG]
    if not line.strip() or _has_secret(line, lines, place.line - 1, skipped):
        return None
    begin = min(max(place.column - 1 - skipped, 0), len(line))
    end = begin + max(_length(line[begin:]), 1)
    first = 0 if not skipped and cell_len(line) <= width else max(begin - _BEFORE, 0)
    before = ("…" if first else "") + _shown(line[first:begin])
    value, after = _shown(line[begin:end]), _shown(line[end:])
    text = _cut(before + value + after, width)
    start = cell_len(before)
    return Excerpt(text, start, max(min(cell_len(value), cell_len(text) - start), 1))


def _length(rest: str) -> int:
    """Characters of the value or the key that a text begins with."""
    if rest[:1] in {"'", '"'}:
        quoted = _QUOTED.match(rest)
        return quoted.end() if quoted is not None else len(rest)
    plain = _PLAIN.match(rest)
    return len(plain[0].rstrip()) if plain is not None else 1


def _shown(text: str) -> str:
    return sanitize(text.replace("\t", " "))


def _cut(text: str, width: int) -> str:
    if cell_len(text) <= width:
        return text
    while cell_len(text) > width - 1:
        text = text[:-1]
    return text + "…"


def _has_secret(shown: str, lines: list[str], index: int, skipped: int) -> bool:
    """Whether a line shows a secret, possibly as the value of a name in the previous line."""
    if any(True for _ in known_secrets([lines[index]])):
        return True
    if skipped:
        return shows_secret(lines[index][max(skipped - _LONG, 0) : skipped] + shown)
    return shows_secret(shown, f"{lines[index - 1][-_LONG:]}\n" if index else "")
