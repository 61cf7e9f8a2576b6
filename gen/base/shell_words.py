r"""Words of a shell command, as far as they are known without running anything.

The grammar (tree-sitter-bash 0.25.1) ends a word before `\=`, after `==` and `=~`, and before the name of a later
variable, as in `$A/$B.log`. It omits escaped spaces at the start and the end of a word, reads `#` after such a space as
a comment, and words after a redirection as files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gen.base.findings import Location
from gen.base.lazy import regex

if TYPE_CHECKING:
    from tree_sitter import Node

_BETWEEN: Final = regex(rb"(?:\\\r?\n|\\?\s)*")
_AFTER: Final = regex(rb"(?:\\\r?\n|\\?[ \t\v\f])*")
_TO_A_HASH: Final = regex(rb"(?:\\\r?\n|\\?\s)*\\[ \t\v\f](?=#)")
_TOKEN: Final = regex(rb"\\\r?\n|\\\s|\s+")


class Piece(Struct, frozen=True):
    """A node of a word, or an escaped character that no node contains."""

    start: int
    node: Node | None = None
    text: str = ""

    @property
    def end(self) -> int:
        return self.node.end_byte if self.node is not None else self.start + 2


def words_of(source: bytes, nodes: Iterable[Node], start: int) -> list[list[Piece]]:
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
    if start == end:
        return
    if source[start:end] == b" ":
        words.append([])
        return
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


def behind_redirections(statement: Node, source: bytes) -> list[Node | None]:
    """The arguments behind the redirections of a statement; None for an escaped space, which has no node."""
    arguments: list[Node | None] = []
    for redirect in statement.children_by_field_name("redirect"):
        arguments += redirect.children_by_field_name("argument")
        files = redirect.children_by_field_name("destination")
        closes = any(child.type in (">&-", "<&-") for child in redirect.children)
        words = words_of(source, files, files[0].start_byte) if files else []
        arguments += [piece.node for word in (words if closes else words[1:]) for piece in word]
    return arguments


_QUOTED_ESCAPE: Final = regex(r'\\([\\"$`\n])')
_ESCAPE: Final = regex(r"\\(.)", re.DOTALL)
_ANSI: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "E": "\x1b"}
_BRACES: Final = regex(r"(?<![$\\])\{([^{}\s]*)\}")
_EXPANDS: Final = regex(rb"[\w{(?$!#*@'\"-]")
"""What follows a `$` that is not itself."""
_NAME: Final = regex(rb"[A-Za-z_]\w*")
_END_OF_LINE: Final = regex(rb"(?:[ \t]+#[^\n]*|[ \t]*)\r?\n")
_NO_END: Final = "gen cannot find the end of this word"
_SPECIAL: Final = regex(r"[\\\s]")
_SPACE: Final = regex(r"(?<!\\)\s")
"""A space ends a word, but the grammar takes `[ [` for one."""
_INDEX: Final = regex(r"\[.*\]\+?=")
_MOST_CHARACTERS: Final = 1 << 22
"""Characters that the variables of a script may expand to: a few lines that double a value would fill the memory."""


class Unknown(Struct, frozen=True):
    """A value that only running the script gives."""

    reason: str
    hint: str


Value = str | tuple[str, ...] | Unknown
"""Value of a variable; an array is a tuple."""


class Word(Struct, frozen=True):
    """A word of a command after all expansions."""

    text: str
    place: Location
    unknown: Unknown | None = None
    """Why the text is not known."""
    raw: str = ""
    """As it is written, if the text is not known."""


class _Part(Struct, frozen=True):
    text: str
    splits: bool = False
    """Whether spaces end a word: the part is an expansion without quotes."""
    unknown: Unknown | None = None


_TOO_LONG: Final = Unknown("the variables of the script expand to too much text", "write the value itself")
NOT_SET: Final = "assign it at the start of the script; if the container must expand it, use single quotes"


class Expander(Struct):
    """Expands words with the variables that the script has set so far."""

    source: bytes
    variables: dict[str, Value]
    place: Callable[[int], Location]
    """The location of a position in the source."""
    left: int = _MOST_CHARACTERS
    """Characters that variables may still expand to."""
    environment: bool = False
    """Whether variables that the script does not set may have a value nevertheless."""

    def words(self, nodes: Iterable[Node], start: int) -> list[Word]:
        """The words of nodes behind a position. One word can expand to none or to several."""
        return [word for pieces in words_of(self.source, nodes, start) for word in self._expanded(pieces)]

    def _expanded(self, pieces: Sequence[Piece]) -> list[Word]:
        if not pieces:
            return []
        place = self.place(pieces[0].start)
        alone = pieces[0].node if len(pieces) == 1 else None
        if alone is not None and alone.type == "word" and _SPECIAL.search(text := self._text(alone)) is None:
            return [Word(text, place)]
        array = self._whole_array(alone) if alone is not None and alone.type in ("expansion", "string") else None
        if array is not None:
            if not self._has_space(sum(len(text) + 1 for text in array)):
                return [Word("", place, _TOO_LONG)]
            return [Word(text, place) for text in array]
        parts = self._parts_of(pieces)
        unknown = next((part.unknown for part in parts if part.unknown is not None), None)
        if unknown is not None:
            return [Word("", place, unknown, self.source[pieces[0].start : pieces[-1].end].decode("utf-8", "replace"))]
        return [Word(text, place) for text in _split(parts)]

    def value(self, node: Node | None, start: int) -> Value:
        """The value of an assignment; its sign ends at a position."""
        if node is not None and node.type == "array":
            return self._array(node)
        pieces = words_of(self.source, [] if node is None else [node], start)[0]
        parts = self._parts_of(pieces)
        unknown = next((part.unknown for part in parts if part.unknown is not None), None)
        return unknown or "".join(part.text for part in parts)

    def _array(self, node: Node) -> Value:
        inner = [child for child in node.children[1:-1] if child.type != "comment"]
        if any(_INDEX.match(self._text(child)) for child in inner):
            return Unknown("its words have an index", "write the words in their order")
        words = self.words(inner, node.start_byte + 1)
        unknown = next((word.unknown for word in words if word.unknown is not None), None)
        return unknown or tuple(word.text for word in words)

    def _parts_of(self, pieces: Sequence[Piece]) -> list[_Part]:
        parts: list[_Part] = []
        cut = ""
        for leaf in (leaf for piece in pieces for leaf in self._leaves(piece)):
            if isinstance(leaf, str):
                parts.append(_Part(leaf))
            elif cut:
                parts += [self._named(cut, splits=True), _constant("word", self._text(leaf).removeprefix(cut))]
                cut = ""
            elif leaf.type != "$" or leaf.end_byte == pieces[-1].end or not (cut := self._name_at(leaf.end_byte)):
                parts += self._parts(leaf)
        return [*parts, _unknown(_NO_END, "quote it")] if self._ends_before_a_hash(pieces) else parts

    def _leaves(self, piece: Piece) -> Sequence[Node | str]:
        """The parts of a piece that follow each other."""
        if piece.node is None:
            return [piece.text]
        return (
            [piece.node] if piece.node.type != "concatenation" or self._has_braces(piece.node) else piece.node.children
        )

    def _has_braces(self, node: Node) -> bool:
        plain = self._text(node).split("'")[0].split('"')[0]
        return any("," in inner or ".." in inner for inner in _BRACES.findall(plain))

    def _name_at(self, start: int) -> str:
        """The name of a variable behind `$` that the grammar takes for another word, such as `B` of `$A/$B.log`."""
        found = _NAME.match(self.source, start)
        return found[0].decode() if found is not None else ""

    def _ends_before_a_hash(self, pieces: Sequence[Piece]) -> bool:
        r"""Whether the grammar took the rest of a word for a comment, such as `\ #x`."""
        last = pieces[-1] if pieces else None
        return last is not None and last.node is None and self.source[last.start + 2 : last.start + 3] == b"#"

    def _text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _parts(self, node: Node) -> list[_Part]:
        text = self._text(node)
        match node.type:
            case "concatenation":
                if self._has_braces(node):
                    return [_unknown("braces expand to several words", "write each word")]
                return [part for child in node.children for part in self._parts(child)]
            case "string" | "translated_string":
                return self._quoted(node if node.type == "string" else node.children[-1])
            case "simple_expansion" | "expansion":
                return [self._variable(node, splits=True)]
            case "$" | "==" | "=~":
                return [self._operator(node)]
            case _:
                return [_constant(node.type, text)]

    def _operator(self, node: Node) -> _Part:
        """An operator in other places. After `==`, the grammar goes on in the next line."""
        text = self._text(node)
        if text in ("==", "=~"):
            return _unknown(_NO_END, "quote it") if _END_OF_LINE.match(self.source, node.end_byte) else _Part(text)
        return _Part("$") if _EXPANDS.match(self.source, node.end_byte) is None else _constant(node.type, text)

    def _quoted(self, node: Node) -> list[_Part]:
        """Parts of a text in double quotes. The text between expansions is taken as it is, with its spaces."""
        parts, at = [], node.start_byte + 1
        for child in node.children:
            if child.type in ("simple_expansion", "expansion", "command_substitution", "arithmetic_expansion"):
                parts += [self._literal(at, child.start_byte), *self._inner(child)]
                at = child.end_byte
        return [*parts, self._literal(at, node.end_byte - 1)]

    def _inner(self, child: Node) -> list[_Part]:
        if child.type in ("simple_expansion", "expansion"):
            return [self._variable(child, splits=False)]
        return self._parts(child)

    def _literal(self, start: int, end: int) -> _Part:
        text = self.source[start:end].decode("utf-8", "replace")
        return _Part(_QUOTED_ESCAPE.sub(lambda found: "" if found[1] == "\n" else found[1], text))

    def _variable(self, node: Node, *, splits: bool) -> _Part:
        return self._named(self._text(node).removeprefix("$"), splits=splits)

    def _named(self, text: str, *, splits: bool) -> _Part:
        """The value of a variable, with or without braces."""
        inner = text[1:-1] if text.startswith("{") else text
        match = re.fullmatch(r"([A-Za-z_][A-Za-z0-9_]*)(?:(:?-)(.*)|(\[[@*]\]))?", inner, re.DOTALL)
        value = None if match is None else self.variables.get(match[1])
        if match is None or (match[4] and not isinstance(value, Unknown)):
            return _unknown(f"`${text}` is not known without a shell", NOT_SET)
        name, default, otherwise, _ = match.groups()
        if default and not self.environment and (value is None or (value == "" and default == ":-")):
            plain = re.fullmatch(r"[^$`\\'\"]*", otherwise) is not None
            return _Part(otherwise, splits) if plain else _unknown(f"the default of `{name}` is not known", NOT_SET)
        if value is None:
            return _unknown(f"`{name}` is not set in the script, and gen does not read the environment", NOT_SET)
        if isinstance(value, Unknown):
            return _unknown(f"`{name}` is not known: {value.reason}", value.hint)
        first = value if isinstance(value, str) else (value[0] if value else "")
        return _Part(first, splits) if self._has_space(len(first)) else _Part("", unknown=_TOO_LONG)

    def _has_space(self, characters: int) -> bool:
        self.left -= characters
        return self.left >= 0

    def _whole_array(self, node: Node) -> tuple[str, ...] | None:
        """The words of `"${ARGS[@]}"`, or of the same without quotes."""
        found = re.fullmatch(r'"?\$\{([A-Za-z_][A-Za-z0-9_]*)\[[@*]\]\}"?', self._text(node))
        value = self.variables.get(found[1]) if found is not None else None
        if isinstance(value, str):
            return (value,)
        return value if isinstance(value, tuple) else None


def _constant(kind: str, text: str) -> _Part:
    """A part without variables; unknown if only a shell gives its value."""
    match kind:
        case "word" | "number" | "variable_name" | "{" | "}" | "=" if not _SPACE.search(text):
            return _Part(_ESCAPE.sub(lambda found: "" if found[1] == "\n" else found[1], text))
        case "raw_string":
            return _Part(text[1:-1])
        case "ansi_c_string":
            return _ansi(text[2:-1])
        case "command_substitution":
            return _unknown("gen runs nothing, so the output of a command is not known", "write the value itself")
        case "word" | "regex" | "ERROR":  # such as all behind `==` up to a `]]`
            return _unknown(_NO_END, "quote it, and the one before it")
    what = kind.replace("_", " ")
    return _unknown(f"the value of this {what} is not known without a shell", "write the value itself")


def _unknown(reason: str, hint: str) -> _Part:
    return _Part("", unknown=Unknown(reason, hint))


def _ansi(text: str) -> _Part:
    if re.search(r"\\[0-7xuUc]", text):
        return _unknown("this escape is not supported", "write the character itself")
    return _Part(_ESCAPE.sub(lambda found: _ANSI.get(found[1], found[1]), text))


def _split(parts: list[_Part]) -> list[str]:
    """The words that the parts make. Spaces of expansions without quotes end a word; empty ones are omitted."""
    words: list[str] = []
    current: str | None = None
    for part in parts:
        if not part.splits:
            current = (current or "") + part.text
            continue
        pieces = part.text.split()
        if part.text[:1].isspace() and current is not None:
            words.append(current)
            current = None
        for number, piece in enumerate(pieces):
            if number and current is not None:
                words.append(current)
                current = None
            current = (current or "") + piece
        if pieces and part.text[-1:].isspace() and current is not None:
            words.append(current)
            current = None
    return words if current is None else [*words, current]
