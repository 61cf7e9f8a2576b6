"""Typing mistakes in a line of YAML: the parser reports them at another place, or reads the line as plain text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from gen.diagnostics import Respell

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.diagnostics import Fix

ODD_SPACES = "\xa0\u1680\u2000-\u200d\u202f\u205f\u2060\u3000\ufeff"
"""Characters that look like a space or like nothing, and are part of a key or value for YAML. For a character class."""

_START = r"^(?P<before>\s*(?:-\s+)*)"
_KEY = r"(?P<key>[A-Za-z_][\w./-]*|\"[^\"]*\"|'[^']*')"
_COLONS = "\uff1a\ufe55\ufe13\ua789\u2236"
"""Characters that look like a colon; input methods for Chinese and Japanese type the first."""


class Slip(Struct, frozen=True, kw_only=True):
    """A mistake in a line."""

    column: int
    """Counted from 0."""
    message: str
    hint: str
    change: tuple[str, str] | None = None
    """The text at the column, and the one that was certainly meant; None if others are possible."""

    def fixes(self, line: int) -> tuple[Fix, ...]:
        """The edit of the line with this number, counted from 1."""
        return (Respell(line, self.column + 1, *self.change),) if self.change is not None else ()


def slip_in(line: str) -> Slip | None:
    """The first known mistake in a line, or None. Lines of block texts and comments must be left out by the caller."""
    return next((slip for find in _SLIPS if (slip := find(line)) is not None), None)


def named(character: str) -> str:
    """The character itself if a reader can see it, and its number."""
    number = f"U+{ord(character):04X}"
    return f"`{character}` ({number})" if character.isprintable() and not character.isspace() else number


def _conflict(line: str) -> Slip | None:
    if re.match(r"(?:<{7}|={7}|>{7}|\|{7})(?: |$)", line) is None:
        return None
    hint = "keep one of the two versions, and remove the lines that start with `<<<<<<<`, `=======` and `>>>>>>>`"
    return Slip(column=0, message="unresolved merge conflict", hint=hint)


def _statement(line: str) -> Slip | None:
    match = re.search(rf"{_START}(?:{_KEY}:\s+)?(?P<mark>\{{[%#])", line)
    if match is None:
        return None
    mark = match["mark"]
    hint = "remove it; for jobs that differ between overlays, set `params` or `defaults` in the overlays"
    message = f"template statements (`{mark}`) are not supported"
    return Slip(column=match.start("mark"), message=message, hint=hint)


def _colon(line: str) -> Slip | None:
    match = re.search(rf"{_START}{_KEY}(?P<mark>[{_COLONS}])\s*(?P<value>.*)", line)
    if match is None:
        return None
    message = f"{named(match['mark'])} is not the colon that YAML expects"
    written = match[0][match.start("mark") - match.start() : match.start("value") - match.start()]
    change = (written, ": " if match["value"] else ":")
    return Slip(column=match.start("mark"), message=message, hint=_written(match), change=change)


def _space(line: str) -> Slip | None:
    match = re.search(rf"^[ \t]*(?:- *)?(?:{_KEY}:)?(?P<mark>[{ODD_SPACES}])", line)
    if match is None:
        return None
    message = f"{named(match['mark'])} is not a space in YAML"
    change = (match["mark"], " ") if match["key"] else None  # indentation can have any number of spaces
    return Slip(column=match.start("mark"), message=message, hint="replace it with a space", change=change)


def _no_space(line: str) -> Slip | None:
    match = re.search(rf"{_START}{_KEY}:(?P<value>(?![\s/]|\Z).*)", line)
    if match is None:
        return None
    change = (match["value"], f" {match['value']}")
    return Slip(column=match.start("value"), message="missing space after `:`", hint=_written(match), change=change)


def _equals(line: str) -> Slip | None:
    match = re.search(rf"{_START}{_KEY} ?(?P<mark>=)(?!=) ?(?P<value>.*)", line)
    if match is None or ": " in match["value"]:
        return None
    written = line[match.end("key") : match.start("value")]
    change = (written, ": " if match["value"] else ":")
    message = "expected `:` after the key, got `=`"
    return Slip(column=match.start("mark"), message=message, hint=_written(match), change=change)


def _dash(line: str) -> Slip | None:
    match = re.search(r"^\s*-(?P<value>[A-Za-z0-9_./][^:]*)$", line)
    if match is None:
        return None
    return Slip(column=match.start("value"), message="missing space after `-`", hint="write `- ` before each entry")


def _indicator(line: str) -> Slip | None:
    match = re.search(rf"{_START}(?:{_KEY}:\s+)?(?P<value>[`@%].*)", line)
    if match is None:
        return None
    first, value = match["value"][0], match["value"].rstrip()
    hint = "remove the backticks, or quote the value" if first == "`" else f'quote the value: `"{first}…"`'
    change = (value, f'"{value}"') if first != "`" and not re.search(r'["\\#]', value) else None
    message = f"a value cannot start with {_code(first)}"
    return Slip(column=match.start("value"), message=message, hint=hint, change=change)


def _star(line: str) -> Slip | None:
    match = re.search(r"^\s*(?:- +)?(?P<key>\*[\w-]*):(?:\s|$)", line)
    if match is None:
        return None
    message = "a key that starts with `*` is an alias for YAML"
    change = (match["key"], f'"{match["key"]}"')
    return Slip(column=match.start("key"), message=message, hint=f'quote it: `"{match["key"]}":`', change=change)


_SLIPS: tuple[Callable[[str], Slip | None], ...] = (
    *(_conflict, _statement, _colon, _space, _star),
    *(_indicator, _no_space, _equals, _dash),
)


def _written(match: re.Match[str]) -> str:
    """Without the value, which may be a secret."""
    return f"write `{match['key']}: `, with a space after the colon, and then the value"


def _code(character: str) -> str:
    return "a backtick" if character == "`" else f"`{character}`"
