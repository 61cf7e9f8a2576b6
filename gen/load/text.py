"""YAML text into plain data, for files that strangers write.

Only mappings, lists and strings come out: an author's `1e-3`, `on` or `010` stays that text until a model says
what it is to be. Built from libyaml's events and not from its nodes, because the composer recurses: 200,000
opening brackets would crash it, and here they are a finding.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yaml.cyaml import CParser  # type: ignore[attr-defined] # the stubs import it without saying so
from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from gen.diagnostics import Location
from gen.load.refused import Refused

if TYPE_CHECKING:
    from typing import Any

    from gen.diagnostics import Findings

Data = dict[str, "Data"] | list["Data"] | str
"""What a file says, before anything is made of it."""

MAX_DEPTH = 64
MAX_NODES = 20_000


class Plain(str):
    """A scalar written without quotes: the only kind that may be read as a number or a truth value."""

    __slots__ = ()


def parse(text: str, file: str, found: Findings) -> Data | None:
    """The one document in `text`, or None when something was found that makes it unreadable."""
    if (refused := _forbidden_character(text, file)) is not None:
        found.error(*refused)
        return None
    try:
        return _Builder(file, found).build(CParser(text))
    except Refused as problem:
        found.error(problem.code, _at(file, problem.mark), problem.message, problem.hint)
    except MarkedYAMLError as error:
        mark = _mark(error, text)
        said, remedy = _explained(" ".join(str(error.problem or error.context or "unreadable").split()), text, mark)
        found.error("invalid-yaml", _at(file, mark), f"not valid YAML: {said}", remedy)
    except YAMLError as error:  # pragma: no cover - libyaml marks every error it knows
        found.error("invalid-yaml", Location(file), f"not valid YAML: {error}", "check the file's encoding")
    return None


@dataclass(slots=True)
class _Builder:
    """One pass over the events with a stack of its own."""

    file: str
    found: Findings

    def build(self, parser: Any) -> Data | None:
        parser.get_event()  # stream start
        if isinstance(parser.get_event(), StreamEndEvent):
            self.found.error("empty-file", Location(self.file), "the file is empty", "write a mapping of fields")
            return None
        root = self._document(parser)
        if not isinstance(after := parser.get_event(), StreamEndEvent):
            raise Refused(after, "many-documents", "a second document starts here", "keep one document a file")
        return root

    def _document(self, parser: Any) -> Data:
        stack: list[tuple[Any, str | None]] = []
        holder: Any = None
        key: str | None = None
        root: Data = ""
        for _ in range(MAX_NODES):
            event = parser.get_event()
            kind = event.__class__
            if kind is ScalarEvent:
                if holder.__class__ is dict and key is None:
                    key = self._key(event, holder)
                    continue
                value: Any = self._scalar(event)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                value = self._container(event, len(stack), expects_key=holder.__class__ is dict and key is None)
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                holder, key = stack.pop()
                continue
            elif kind is DocumentEndEvent:
                return root
            else:
                raise _refused_reference(event)
            if holder is None:
                root = value
            elif holder.__class__ is dict:
                holder[key] = value
                key = None
            else:
                holder.append(value)
            if kind is not ScalarEvent:
                stack.append((holder, key))
                holder, key = value, None
        raise Refused(event, "too-large", f"more than {MAX_NODES} values in one file", "split the file")

    def _key(self, event: Any, holder: dict[str, Any]) -> str:
        key = str(self._scalar(event))
        if key in holder:
            place = _at(self.file, event.start_mark)
            self.found.error("duplicate-key", place, f"`{key}` is given twice", "keep one of the two")
        return key

    def _scalar(self, event: Any) -> str:
        if event.tag is not None or event.anchor is not None:
            raise _refused_reference(event)
        if event.style == '"' and (match := _NEVER.search(event.value)) is not None:  # elsewhere it was seen already
            message = f"the character U+{ord(match[0]):04X} is not allowed"
            raise Refused(event, "control-character", message, "remove it")
        return Plain(event.value) if event.implicit[0] else event.value

    def _container(self, event: Any, depth: int, *, expects_key: bool) -> Any:
        if expects_key:
            raise Refused(event, "invalid-key", "a key must be a word, not a list or a mapping", "quote the key")
        if event.tag is not None or event.anchor is not None:
            raise _refused_reference(event)
        if depth >= MAX_DEPTH:
            raise Refused(event, "too-deep", f"nested deeper than {MAX_DEPTH} levels", "flatten the data")
        return {} if event.__class__ is MappingStartEvent else []


def _refused_reference(event: Any) -> Refused:
    if isinstance(event, AliasEvent) or event.anchor is not None:
        return Refused(event, "anchor", "anchors and aliases (`&`, `*`) are not read", "repeat the value, or quote it")
    return Refused(
        event,
        "tag",
        f"the tag `{event.tag}` is not read",
        "remove the tag; quote the value if it starts with `!`",
    )


_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
_NEVER = re.compile("[\0\ufdd0-\ufdef]")
"""Refused in any spelling: no process can be given a NUL, and gen uses noncharacters itself."""


def forbidden_character(text: str) -> re.Match[str] | None:
    """The first control character, or one that makes a reviewer see another order than a reader gets."""
    return _FORBIDDEN.search(text)


def _forbidden_character(text: str, file: str) -> tuple[str, Location, str, str] | None:
    if (match := forbidden_character(text)) is None:
        return None
    before = text[: match.start()]
    place = Location(file, before.count("\n") + 1, match.start() - (before.rfind("\n") + 1) + 1)
    return "control-character", place, f"the character U+{ord(match[0]):04X} is not allowed", "remove it"


def _at(file: str, mark: Any) -> Location:
    return Location(file, mark.line + 1, mark.column + 1) if mark is not None else Location(file)


def _mark(error: MarkedYAMLError, text: str) -> Any:
    """Where to look: the problem, or what was never closed when it shows only at the end of the file."""
    problem, opening = error.problem_mark, error.context_mark
    if problem is None or (opening is not None and problem.index >= len(text.rstrip())):
        return opening
    return problem


_UNCLOSED = ("found unexpected end of stream", "did not find expected ',' or")
_REMEDIES = (
    ("mapping values are not allowed", "quote a value that holds `: `, and indent keys of one mapping alike"),
    ("could not find expected ':'", "write `key: value`, and indent continued text deeper than its key"),
    ("found unexpected end of stream", "close the quote or the bracket that is open"),
    ("did not find expected ',' or", "close the bracket that is open, and write `,` between its entries"),
    ("found unknown escape character", "use single quotes, or double the backslash"),
)


def _explained(problem: str, text: str, mark: Any) -> tuple[str, str]:
    """The parser's sentence, or ours where that one misleads; and what to do."""
    lines = text.splitlines()
    there = lines[mark.line][mark.column : mark.column + 1] if mark is not None and mark.line < len(lines) else ""
    if there == "\t":
        return "a tab stands where the indentation is", "indent with spaces"
    if there and there in "\"'[{" and problem.startswith(_UNCLOSED):
        return f"the {there} that stands here is never closed", "close it; quote a text that starts with one"
    otherwise = "check the indentation, quotes and brackets of this line and the one above"
    return problem, next((remedy for start, remedy in _REMEDIES if start in problem), otherwise)
