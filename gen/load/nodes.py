"""The nodes of a YAML text, for the places of its values."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from yaml.cyaml import CParser  # type: ignore[attr-defined] # the stubs import it without exporting it

from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Collection


class NodeLoader(CParser):
    """Nodes without the tags of their values, whose resolution takes as long as the parsing."""

    def resolve(self, kind: type, value: str | None, implicit: object) -> str:  # noqa: ARG002 - called by the parser
        return ""

    def descend_resolver(self, node: object, index: object) -> None:
        """Called by the parser."""

    def ascend_resolver(self) -> None:
        """Called by the parser."""


def node_of(text: str) -> Any:
    """The node of the one document in a text that was parsed without an error."""
    return NodeLoader(text).get_single_node()


def field_spans(text: str, fields: Collection[str]) -> dict[str, tuple[int, int, int]]:
    """The start and the end of the text of each field of a file, and the number of lines before it.

    Empty unless the file starts with a plain key at the start of a line, as nearly all files do: then each key of the
    mapping is there. If other lines start like keys, such as those of a quoted text, there are more than fields.
    """
    if "\r" in text or _FIRST.match(text) is None or not (text.isascii() or _OTHER_ENDS.search(text) is None):
        return {}
    starts = [match.start() for match in _START.finditer(f"\n{text}")]
    if len(starts) != len(fields):
        return {}
    before = accumulate(text.count("\n", start, end) for start, end in pairwise((0, *starts)))
    return dict(zip(fields, zip(starts, [*starts[1:], len(text)], before, strict=True), strict=True))


_FIRST = regex(r"(?: *(?:#.*)?\n)*[A-Za-z]")
"""Empty lines and comments, and the start of a plain key."""
_START = regex(r"\n(?![ #\n]|-[ \n]|\Z)")
"""The end of a line, unless the next one is empty, indented, a comment or an item of a list."""
_OTHER_ENDS = regex("[\x85\u2028\u2029]")
"""Other ends of lines for libyaml, besides a carriage return."""
