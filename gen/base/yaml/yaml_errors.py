"""Errors of the YAML parser as messages with a place and a hint, and typing mistakes in a line of YAML.

The parser reports such a mistake at another place, or reads the line as plain text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace
from yaml.cyaml import CParser  # type: ignore[attr-defined] # the stubs import it without exporting it
from yaml.events import ScalarEvent, StreamEndEvent

from gen.base.codes import Code
from gen.base.codes.files import INVALID_YAML, TOO_DEEP
from gen.base.findings import Fix, Location, Respell, counted
from gen.base.lazy import regex

if TYPE_CHECKING:
    from yaml.error import MarkedYAMLError

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
    message = f"a value cannot start with {'a backtick' if first == '`' else f'`{first}`'}"
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


_OPENING, _CLOSING = "\u201c\u2018\u201e\u201a", "\u201d\u2019\u201c\u2018"
_ANY = regex(f"[{ODD_SPACES}{_OPENING}{_CLOSING}]")
_EDGE = regex(f"^[{ODD_SPACES}]|[{ODD_SPACES}]$")
_QUOTED = regex(f"[{_OPENING}].*[{_CLOSING}]", re.DOTALL)


class Lookalike(Struct, frozen=True, kw_only=True):
    """A character at the start or the end of a scalar without quotes."""

    mark: Any
    """Start of the scalar."""
    message: str
    hint: str


def lookalikes(text: str) -> Iterator[Lookalike]:
    """Characters in a valid YAML text that are probably meant as a space or as a quote."""
    if text.isascii() or _ANY.search(text) is None:  # as in nearly every file
        return
    get = CParser(text).get_event
    while (event := get()).__class__ is not StreamEndEvent:
        if isinstance(event, ScalarEvent) and event.implicit[0] and (found := _lookalike(event)) is not None:
            yield found


def _lookalike(event: Any) -> Lookalike | None:
    if (match := _EDGE.search(event.value)) is not None:
        message = f"{named(match[0])} is not a space in YAML"
        return Lookalike(mark=event.start_mark, message=message, hint="replace it with a space, or remove it")
    if _QUOTED.fullmatch(event.value):
        message = f"`{event.value[0]}` and `{event.value[-1]}` are not quotes in YAML"
        hint = 'replace both with `"`; to keep them in the value, put it in `"` as well'
        return Lookalike(mark=event.start_mark, message=message, hint=hint)
    return None


_UNCLOSED = ("found unexpected end of stream", "did not find expected ',' or")
_NO_COLON, _TWO_COLONS, _NO_KEY = (
    "could not find expected ':'",
    "mapping values are not allowed",
    "did not find expected",
)
_HINTS = (
    (_TWO_COLONS, "quote a value that contains `: `, and indent all keys of a mapping equally"),
    (_NO_COLON, "write `key: value`, and indent continued text deeper than its key"),
    ("found unexpected end of stream", "close the open quote or bracket"),
    ("did not find expected ',' or", "close the open bracket, and separate its entries with `,`"),
    ("found unknown escape character", "use single quotes, or double the backslash"),
)
_HINT = "check the indentation, quotes and brackets of this line and the one above"
_BREAK = regex("\r\n|[\r\n\x85\u2028\u2029]")
"""Line breaks as libyaml counts them."""
_ENTRY = regex(r"(?P<indent> *)(?:- +)?(?P<key>[^\s#'\"\[{][^:#]*):(?: +(?P<value>[^#\s].*))?")
_BLOCK = regex(r"\s*(?:- +)?(?P<key>[^#]*):\s+[|>][-+0-9]*\s*(?:#.*)?")


def lines_with_ends(text: str) -> list[str]:
    """The lines that libyaml counts, each with its end."""
    ends = [match.end() for match in _BREAK.finditer(text)]
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


class YAMLProblem(Struct, frozen=True, kw_only=True):
    """A YAML error for a finding."""

    line: int
    """Counted from 0, like the column."""
    column: int
    message: str
    hint: str
    fixes: tuple[Fix, ...] = ()
    code: Code = INVALID_YAML

    def location(self, file: str) -> Location:
        return Location(file, self.line + 1, self.column + 1)


class _Error(Struct, frozen=True, kw_only=True):
    """An error of the parser in its text."""

    lines: list[str]
    problem: str
    line: int
    column: int
    start: int
    """The line where the parser began to read what it could not finish; else the line of the error."""

    @property
    def here(self) -> str:
        return self.text(self.line)

    def text(self, number: int) -> str:
        return self.lines[number] if 0 <= number < len(self.lines) else ""

    def above(self, number: int) -> int:
        """The last line above that is neither empty nor a comment; -1 if there is none."""
        return next((n for n in range(number - 1, -1, -1) if not re.match(r"\s*(#|\Z)", self.text(n))), -1)

    def at(self, line: int, column: int, message: str, hint: str) -> YAMLProblem:
        return YAMLProblem(line=line, column=column, message=f"invalid YAML: {message}", hint=hint)


def location(file: str, mark: Any) -> Location:
    return Location(file, mark.line + 1, mark.column + 1) if mark is not None else Location(file)


def explained(error: MarkedYAMLError, text: str) -> YAMLProblem:
    """The mistake that caused an error, at its place; the parser's message and place if the mistake is unknown."""
    problem, opening = error.problem_mark, error.context_mark
    mark = problem
    if problem is None or (opening is not None and problem.index >= len(text.rstrip())):
        mark = opening  # an unclosed quote or bracket
    given = _Error(
        lines=_BREAK.split(text),
        problem=" ".join(str(error.problem or error.context or "unreadable").split()),
        line=mark.line if mark is not None else 0,
        column=mark.column if mark is not None else 0,
        start=opening.line if opening is not None else mark.line if mark is not None else 0,
    )
    for find in _CAUSES:
        if (found := find(given)) is not None:
            return found
    hint = next((hint for start, hint in _HINTS if start in given.problem), _HINT)
    return given.at(given.line, given.column, given.problem, hint)


def _nesting(error: _Error) -> YAMLProblem | None:
    """The limit of libyaml, since 0.2.6, for brackets that nothing closed yet."""
    if error.problem != "exceeded maximum nesting depth":
        return None
    found = error.at(error.line, error.column, "", "flatten the data")
    return replace(found, message="nested deeper than the YAML parser reads", code=TOO_DEEP)


def _tab(error: _Error) -> YAMLProblem | None:
    if error.here[error.column : error.column + 1] != "\t":
        return None
    return error.at(error.line, error.column, "tab in the indentation", "indent with spaces")


def _unclosed(error: _Error) -> YAMLProblem | None:
    there = error.here[error.column : error.column + 1]
    if not there or there not in "\"'[{" or not error.problem.startswith(_UNCLOSED):
        return None
    hint = "close it, or quote the value that starts with it"
    return error.at(error.line, error.column, f"unclosed `{there}`", hint)


def _slip(error: _Error) -> YAMLProblem | None:
    """A slip in the reported line, or in the line where the parser expected a key."""
    started = _NO_COLON in error.problem or _TWO_COLONS in error.problem
    for number in (error.start, error.above(error.line), error.line) if started else (error.line,):
        slip = slip_in(error.text(number))
        if slip is not None:
            return replace(error.at(number, slip.column, slip.message, slip.hint), fixes=slip.fixes(number + 1))
    return None


def _unindented_block(error: _Error) -> YAMLProblem | None:
    """A block text with lines that are not indented."""
    number = error.above(error.start)
    match = _BLOCK.fullmatch(error.text(number)) if _NO_COLON in error.problem else None
    if match is None:
        return None
    key = match["key"]
    return error.at(
        error.start, 0, f"the text of `{key}` is not indented", f"indent each line of it deeper than `{key}`"
    )


def _comment(error: _Error) -> YAMLProblem | None:
    """A comment between the lines of a value."""
    above = error.above(error.line)
    match = re.search(r"\s(#.*)", error.text(above))
    deeper = _indent(error.here) > _indent(error.text(above))
    if match is None or not deeper or not error.problem.startswith((_NO_KEY, _NO_COLON)):
        return None
    hint = "remove the comment; to keep `#` in the value, write the text below `|`"
    return error.at(above, match.start(1), "a comment ends the value, but its text continues below", hint)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _no_colon(error: _Error) -> YAMLProblem | None:
    """A line that is not a key with a value."""
    if _NO_COLON not in error.problem:
        return None
    line = error.text(error.start)
    match = re.match(r"\s*(?:- +)?(?P<key>[A-Za-z][\w.-]*)\s", line)
    hint = next(hint for start, hint in _HINTS if start == _NO_COLON)
    if match is not None:
        hint = f"write `{match['key']}: ` and the value, or indent the line to continue the value above"
    return error.at(error.start, _indent(line), "missing `:` after the key", hint)


def _indentation(error: _Error) -> YAMLProblem | None:
    """A key that is indented deeper than the key above, which has a value, or as deep as none above it."""
    above = error.above(error.line)
    here, over = _ENTRY.match(error.here), _ENTRY.match(error.text(above))
    if here is None or over is None:
        return None
    indent, expected = len(here["indent"]), len(over["indent"])
    deeper = _TWO_COLONS in error.problem and indent > expected and over["value"] and error.column == here.end("key")
    between = _NO_KEY in error.problem and error.column == indent < expected
    if not deeper and not between:
        return None
    like = over["key"]
    if between:
        like = _nearest(error.lines[: above + 1], indent)
    message = f"unexpected indentation of {counted(indent, 'space')}"
    return error.at(error.line, indent, message, f"indent `{here['key']}` like `{like}` above")


def _nearest(lines: list[str], indent: int) -> str:
    """The last key above with the indentation that is the nearest."""
    entries = [match for line in reversed(lines) if (match := _ENTRY.match(line)) is not None]
    return min(entries, key=lambda match: abs(len(match["indent"]) - indent))["key"]


def _after_quote(error: _Error) -> YAMLProblem | None:
    """Text after a closing quote, as in `'a 'b' c'`."""
    match = re.search(r"(?:: +|- +)(?P<quote>['\"])", error.here)
    quote = match["quote"] if match is not None else ""
    if not quote or _NO_KEY not in error.problem or error.here[: error.column].rstrip()[-1:] != quote:
        return None
    double = "''" if quote == "'" else '\\"'
    hint = f"write `{double}` for a `{quote}` inside of the quotes, or write the text below `|`"
    return error.at(error.line, error.column, f"text after the closing `{quote}`", hint)


def _colon_in_value(error: _Error) -> YAMLProblem | None:
    """A second `: ` in a line."""
    if _TWO_COLONS not in error.problem or not 0 <= error.here.find(": ") < error.column:
        return None
    hint = "put the whole value in quotes, or remove the space after the second `:`"
    return error.at(error.line, error.column, "`: ` in a value without quotes", hint)


_CAUSES: tuple[Callable[[_Error], YAMLProblem | None], ...] = (
    *(_nesting, _tab, _unclosed, _slip, _unindented_block, _comment, _no_colon, _indentation, _after_quote),
    _colon_in_value,
)
"""The first that finds its mistake wins."""
