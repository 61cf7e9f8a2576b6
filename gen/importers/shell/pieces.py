r"""The nodes of each word of a command: the grammar (tree-sitter-bash 0.25.1) ends some too early.

It ends a word before `\=`, and after `==` and `=~`. It leaves out spaces that are escaped at the start or the end of
a word, takes `#` behind such a space for a comment, and the words behind a redirection for files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterable

_BETWEEN: Final = regex(rb"(?:\\\r?\n|\\?\s)*")
_AFTER: Final = regex(rb"(?:\\\r?\n|\\?[ \t\v\f])*")
_TO_A_HASH: Final = regex(rb"(?:\\\r?\n|\\?\s)*\\[ \t\v\f](?=#)")
_TOKEN: Final = regex(rb"\\\r?\n|\\\s|\s+")


class Piece(Struct, frozen=True):
    """A node of a word, or an escaped character that no node contains."""

    start: int
    node: Any = None
    text: str = ""


def words_of(source: bytes, nodes: Iterable[Any], start: int) -> list[list[Piece]]:
    """The pieces of each word from a position in the source. A word between two spaces has none."""
    words: list[list[Piece]] = [[]]
    for node in nodes:
        _add_between(words, source, start, node.start_byte)
        words[-1].append(Piece(node.start_byte, node))
        start = node.end_byte
    after = _AFTER.match(source, start)
    if after is not None:
        _add_between(words, source, start, after.end())
    return words


def _add_between(words: list[list[Piece]], source: bytes, start: int, end: int) -> None:
    """Add the text between two nodes. What is neither a space nor escaped is a redirection, and ends the word."""
    if _BETWEEN.fullmatch(source, start, end) is None:
        comment = _TO_A_HASH.match(source, start, end)
        if comment is not None:  # the word that ends here goes on in it
            _add_between(words, source, start, comment.end())
        words.append([])
        return
    for token in _TOKEN.finditer(source, start, end):
        if token[0].isspace():
            words.append([])
        elif not token[0].endswith(b"\n"):
            words[-1].append(Piece(token.start(), text=token[0][1:].decode()))


def behind_redirections(statement: Any, source: bytes) -> list[Any]:
    """The arguments behind the redirections of a statement; None for an escaped space, which has no node."""
    arguments: list[Any] = []
    for redirect in statement.children_by_field_name("redirect"):
        arguments += redirect.children_by_field_name("argument")
        files = redirect.children_by_field_name("destination")
        closes = any(child.type in (">&-", "<&-") for child in redirect.children)
        words = words_of(source, files, files[0].start_byte) if files else []
        arguments += [piece.node for word in (words if closes else words[1:]) for piece in word]
    return arguments
