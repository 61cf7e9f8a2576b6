"""Where kubectl begins and ends the documents of a stream, which differs from YAML itself.

From `YAMLReader` of `apimachinery/pkg/util/yaml/decoder.go`: documents begin after a line `---`, which may only have a
comment. go-yaml reads the first document of each part, and never looks at what follows its end `...`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from yaml.error import Mark

from gen.findings.files import IGNORED_DOCUMENT, INVALID_YAML
from gen.load.events import Refused
from gen.load.yaml_errors import location
from gen.regex import regex

if TYPE_CHECKING:
    from gen.diagnostics import Findings

_SEPARATOR = regex(r"^---[^\S\n]*(?=[^\s#])", re.MULTILINE)
_END = regex(r"^\.\.\.(?=\s)", re.MULTILINE)
_NEXT = regex(r"^---", re.MULTILINE)
_IGNORED = regex(r"^[^\S\n]*(?!\.\.\.\s)(?=[^\s#])", re.MULTILINE)
_PRINTED = regex(r"[^\n\r\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""Control characters are errors everywhere."""


def has_ends(text: str) -> bool:
    """Whether a document may begin or end unlike in YAML; fast."""
    separators = "---" in text and _SEPARATOR.search(text) is not None
    return separators or ("\n..." in text and _END.search(text) is not None)


def without_ignored(text: str, file: str, found: Findings) -> str:
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
