"""Errors of the YAML parser as messages with a place and a hint."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from gen.diagnostics import Location, counted
from gen.load.slips import slip_in
from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Callable

    from yaml.error import MarkedYAMLError

    from gen.diagnostics import Fix

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
    *(_tab, _unclosed, _slip, _unindented_block, _comment, _no_colon, _indentation, _after_quote, _colon_in_value),
)
"""The first that finds its mistake wins."""
