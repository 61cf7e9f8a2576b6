"""Texts that libyaml and go-yaml, the reader of kubectl, read differently. go-yaml decides.

From `scannerc.go` of go-yaml 2 and `YAMLReader` of `apimachinery/pkg/util/yaml/decoder.go`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from yaml.cyaml import CParser  # type: ignore[attr-defined] # the stubs import it without saying so
from yaml.error import MarkedYAMLError
from yaml.events import (
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from gen.findings.files import INVALID_YAML
from gen.load.document_ends import has_ends, without_ignored
from gen.load.events import Refused
from gen.regex import regex

if TYPE_CHECKING:
    from gen.diagnostics import Findings

_STARTS = (MappingStartEvent, SequenceStartEvent)
_ENDS = (MappingEndEvent, SequenceEndEvent)
_FLOW = regex(r"(?:^|[:\-] |[:\-]\t|[\[{,])[ \t]*[\[{][^\n]*\?", re.MULTILINE)
_SLASH = regex(r"(?<!\\)(?:\\\\)*\\/")
_MAX_QUOTES = 50


def differs(text: str) -> bool:
    """Whether the two may read a text differently; fast."""
    backslash = "\\" in text and ("\\/" in text or "\\'" in text)
    directive = "%" in text and (text.startswith("%") or "\n%" in text)
    return backslash or directive or has_ends(text) or ("?" in text and _FLOW.search(text) is not None)


def as_kubectl(text: str, file: str, found: Findings) -> str:
    r"""The text with `\'` in double quotes, which only go-yaml supports, as `\x27`, and without what kubectl ignores.

    Raises `Refused` for what only libyaml reads, and the parser's YAMLError.
    """
    if differs(text):
        text = without_ignored(text, file, found)
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
