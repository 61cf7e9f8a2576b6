"""Errors of the YAML parser as messages with a place and a hint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.diagnostics import Location

if TYPE_CHECKING:
    from yaml.error import MarkedYAMLError

_UNCLOSED = ("found unexpected end of stream", "did not find expected ',' or")
_HINTS = (
    ("mapping values are not allowed", "quote a value that contains `: `, and indent all keys of a mapping equally"),
    ("could not find expected ':'", "write `key: value`, and indent continued text deeper than its key"),
    ("found unexpected end of stream", "close the open quote or bracket"),
    ("did not find expected ',' or", "close the open bracket, and separate its entries with `,`"),
    ("found unknown escape character", "use single quotes, or double the backslash"),
)
_HINT = "check the indentation, quotes and brackets of this line and the one above"


def location(file: str, mark: Any) -> Location:
    return Location(file, mark.line + 1, mark.column + 1) if mark is not None else Location(file)


def mark_of(error: MarkedYAMLError, text: str) -> Any:
    """The mark of the problem; for an unclosed quote or bracket at the end of the file, the mark of its start."""
    problem, opening = error.problem_mark, error.context_mark
    if problem is None or (opening is not None and problem.index >= len(text.rstrip())):
        return opening
    return problem


def explained(error: MarkedYAMLError, text: str) -> tuple[str, str]:
    """The parser's message, or a better one where it misleads; and a hint."""
    problem, mark = " ".join(str(error.problem or error.context or "unreadable").split()), mark_of(error, text)
    lines = text.splitlines()
    there = lines[mark.line][mark.column : mark.column + 1] if mark is not None and mark.line < len(lines) else ""
    if there == "\t":
        return "invalid YAML: tab in the indentation", "indent with spaces"
    if there and there in "\"'[{" and problem.startswith(_UNCLOSED):
        return f"invalid YAML: unclosed `{there}`", "close it, or quote the value that starts with it"
    return f"invalid YAML: {problem}", next((hint for start, hint in _HINTS if start in problem), _HINT)
