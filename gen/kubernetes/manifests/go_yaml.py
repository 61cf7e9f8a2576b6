"""Texts that libyaml and go-yaml, the reader of kubectl, read differently. go-yaml decides.

From `scannerc.go` of go-yaml 2 and `YAMLReader` of `apimachinery/pkg/util/yaml/decoder.go`. Documents begin after a
line `---`, which may only have a comment. go-yaml reads the first document of each part, and never looks behind
its end `...`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from yaml.cyaml import CParser  # type: ignore[attr-defined] # the stubs import it without saying so
from yaml.error import Mark, MarkedYAMLError
from yaml.events import (
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from gen.base import Findings, regex
from gen.base.codes.files import IGNORED_DOCUMENT, INVALID_YAML
from gen.base.yaml.strict import Refused
from gen.base.yaml.yaml_errors import location

_STARTS = (MappingStartEvent, SequenceStartEvent)
_ENDS = (MappingEndEvent, SequenceEndEvent)
_FLOW = regex(r"(?:^|[:\-] |[:\-]\t|[\[{,])[ \t]*[\[{][^\n]*\?", re.MULTILINE)
_SLASH = regex(r"(?<!\\)(?:\\\\)*\\/")
_ESCAPED = regex(r"(?<!\\)(?:\\\\)*\\[/']")
_MAX_QUOTES = 50
_SEPARATOR = regex(r"^---[^\S\n]*(?=[^\s#])", re.MULTILINE)
_END = regex(r"^\.\.\.(?=\s)", re.MULTILINE)
_NEXT = regex(r"^---", re.MULTILINE)
_IGNORED = regex(r"^[^\S\n]*(?!\.\.\.\s)(?=[^\s#])", re.MULTILINE)
_PRINTED = regex(r"[^\n\r\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""Control characters are errors everywhere."""


def differs(text: str) -> bool:
    """Whether the two may read a text differently; fast."""
    backslash = "\\" in text and ("\\/" in text or "\\'" in text) and _ESCAPED.search(text) is not None
    directive = "%" in text and (text.startswith("%") or "\n%" in text)
    return backslash or directive or _has_ends(text) or _may_have_question(text)


def _may_have_question(text: str) -> bool:
    """Whether a line may have `?` inside brackets. Only lines with `?` are searched."""
    end = 0
    while (mark := text.find("?", end)) >= 0:
        begin, end = text.rfind("\n", 0, mark) + 1, text.find("\n", mark)
        end = end if end >= 0 else len(text)
        if ("[" in (line := text[begin:end]) or "{" in line) and _FLOW.search(line) is not None:
            return True
    return False


def as_kubectl(text: str, file: str, found: Findings) -> str:
    r"""The text with `\'` in double quotes, which only go-yaml supports, as `\x27`, and without what kubectl ignores.

    Raises `Refused` for what only libyaml reads, and the parser's YAMLError.
    """
    if differs(text):
        text = _without_ignored(text, file, found)
        text = _with_escaped_quotes(text)
        _refuse_unreadable(text)
    return text


def _with_escaped_quotes(text: str) -> str:
    for _ in range(_MAX_QUOTES if "\\'" in text else 0):
        parser = CParser(text)
        try:
            while parser.get_event().__class__ is not StreamEndEvent:
                pass
        except MarkedYAMLError as error:
            index = getattr(error.problem_mark, "index", len(text))
            start = text.find("\\'", max(index - 1, 0), index + 2)
            if "unknown escape" not in str(error.problem) or start < 0:
                return text
            text = f"{text[:start]}\\x27{text[start + 2 :]}"
        else:
            return text
    return text


def _refuse_unreadable(text: str) -> None:
    is_json = text.lstrip().startswith("{")  # kubectl tries JSON first
    get, depth = cast("Any", CParser(text)).get_event, 0
    while (event := get()).__class__ is not StreamEndEvent:
        if event.__class__ in _STARTS:
            depth += bool(depth or event.flow_style)
        elif event.__class__ in _ENDS:
            depth -= bool(depth)
        elif event.__class__ is DocumentStartEvent and (event.version or event.tags):
            message = "invalid YAML: kubectl does not support directives (`%`)"
            raise Refused(event, INVALID_YAML, message, "remove the line that starts with `%`")
        elif event.__class__ is ScalarEvent:
            if depth and not event.style and "?" in event.value:
                message = "invalid YAML: kubectl does not support an unquoted `?` inside brackets"
                raise Refused(event, INVALID_YAML, message, "quote the value")
            start: Any = event.start_mark
            end: Any = event.end_mark
            written = text[start.index : end.index] if event.style == '"' else ""
            if not is_json and _SLASH.search(written) is not None:
                raise Refused(event, INVALID_YAML, "invalid YAML: unknown escape `\\/`", "write `/` without backslash")


def _has_ends(text: str) -> bool:
    """Whether a document may begin or end unlike in YAML; fast."""
    separators = any(_SEPARATOR.match(text, begin) for begin in _lines_with(text, "---"))
    return separators or ("\n..." in text and _END.search(text) is not None)


def _lines_with(text: str, start: str) -> Iterator[int]:
    """The offsets of the lines that begin with a text."""
    begin = 0 if text.startswith(start) else text.find(f"\n{start}") + 1
    while begin or text.startswith(start):
        yield begin
        if (following := text.find(f"\n{start}", begin)) < 0:
            return
        begin = following + 1


def _without_ignored(text: str, file: str, found: Findings) -> str:
    """The text with spaces in place of what kubectl never reads, with a warning for each such part.

    Raises `Refused` for a document that begins on the line of its `---`.
    """
    if text.lstrip().startswith("{"):  # kubectl tries JSON first
        return text
    if (match := _SEPARATOR.search(text)) is not None:
        message = "invalid YAML: kubectl does not support text after `---`"
        raise Refused(_At(text, match.end()), INVALID_YAML, message, "begin the document on the next line")
    position = 0
    while (match := _END.search(text, position)) is not None:
        following = _NEXT.search(text, match.end())
        position = following.start() if following is not None else len(text)
        ignored = text[match.end() : position]
        if (first := _IGNORED.search(ignored)) is not None:
            place = location(file, _At(text, match.end() + first.end()).start_mark)
            hint = "add a line `---` after `...`, or remove the text"
            found.warning(IGNORED_DOCUMENT, place, "kubectl ignores the text after `...`", hint)
            text = f"{text[: match.end()]}{_PRINTED.sub(' ', ignored)}{text[position:]}"
    return text


class _At:
    """A place in a text, as events of a parser have it."""

    def __init__(self, text: str, index: int) -> None:
        line, column = text.count("\n", 0, index), index - text.rfind("\n", 0, index) - 1
        self.start_mark = Mark("", index, line, column, None, 0)
