"""Words of a shell command, as far as they are known without running anything."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gen.importers.shell.pieces import Piece, words_of
from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gen.diagnostics import Location

_QUOTED_ESCAPE: Final = regex(r'\\([\\"$`\n])')
_ESCAPE: Final = regex(r"\\(.)", re.DOTALL)
_ANSI: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "E": "\x1b"}
_BRACES: Final = regex(r"(?<![$\\])\{([^{}\s]*)\}")
_EXPANDS: Final = regex(rb"[\w{(?$!#*@'\"-]")
"""What follows a `$` that is not itself."""
_END_OF_LINE: Final = regex(rb"(?:[ \t]+#[^\n]*|[ \t]*)\r?\n")
_NO_END: Final = "gen cannot find the end of this word"
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

    def words(self, nodes: Iterable[Any], start: int) -> list[Word]:
        """The words of nodes behind a position. One word can expand to none or to several."""
        return [word for pieces in words_of(self.source, nodes, start) for word in self._expanded(pieces)]

    def _expanded(self, pieces: Sequence[Piece]) -> list[Word]:
        if not pieces:
            return []
        place = self.place(pieces[0].start)
        array = self._whole_array(pieces[0].node) if len(pieces) == 1 and pieces[0].node is not None else None
        if array is not None:
            if not self._has_space(sum(len(text) + 1 for text in array)):
                return [Word("", place, _TOO_LONG)]
            return [Word(text, place) for text in array]
        parts = self._parts_of(pieces)
        unknown = next((part.unknown for part in parts if part.unknown is not None), None)
        if unknown is not None:
            return [Word("", place, unknown)]
        return [Word(text, place) for text in _split(parts)]

    def value(self, node: Any, start: int) -> Value:
        """The value of an assignment; its sign ends at a position."""
        if node is not None and node.type == "array":
            return self._array(node)
        pieces = words_of(self.source, [] if node is None else [node], start)[0]
        parts = self._parts_of(pieces)
        unknown = next((part.unknown for part in parts if part.unknown is not None), None)
        return unknown or "".join(part.text for part in parts)

    def _array(self, node: Any) -> Value:
        inner = [child for child in node.children[1:-1] if child.type != "comment"]
        if any(_INDEX.match(self._text(child)) for child in inner):
            return Unknown("its words have an index", "write the words in their order")
        words = self.words(inner, node.start_byte + 1)
        unknown = next((word.unknown for word in words if word.unknown is not None), None)
        return unknown or tuple(word.text for word in words)

    def _parts_of(self, pieces: Sequence[Piece]) -> list[_Part]:
        parts = [
            part
            for piece in pieces
            for part in (self._parts(piece.node) if piece.node is not None else [_Part(piece.text)])
        ]
        return [*parts, _unknown(_NO_END, "quote it")] if self._ends_before_a_hash(pieces) else parts

    def _ends_before_a_hash(self, pieces: Sequence[Piece]) -> bool:
        r"""Whether the grammar took the rest of a word for a comment, such as `\ #x`."""
        last = pieces[-1] if pieces else None
        return last is not None and last.node is None and self.source[last.start + 2 : last.start + 3] == b"#"

    def _text(self, node: Any) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _parts(self, node: Any) -> list[_Part]:
        text = self._text(node)
        match node.type:
            case "concatenation":
                plain = text.split("'")[0].split('"')[0]
                if any("," in inner or ".." in inner for inner in _BRACES.findall(plain)):
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

    def _operator(self, node: Any) -> _Part:
        """An operator in other places. After `==`, the grammar goes on in the next line."""
        text = self._text(node)
        if text in ("==", "=~"):
            return _unknown(_NO_END, "quote it") if _END_OF_LINE.match(self.source, node.end_byte) else _Part(text)
        return _Part("$") if _EXPANDS.match(self.source, node.end_byte) is None else _constant(node.type, text)

    def _quoted(self, node: Any) -> list[_Part]:
        """Parts of a text in double quotes. The text between expansions is taken as it is, with its spaces."""
        parts, at = [], node.start_byte + 1
        for child in node.children:
            if child.type in ("simple_expansion", "expansion", "command_substitution", "arithmetic_expansion"):
                parts += [self._literal(at, child.start_byte), *self._inner(child)]
                at = child.end_byte
        return [*parts, self._literal(at, node.end_byte - 1)]

    def _inner(self, child: Any) -> list[_Part]:
        if child.type in ("simple_expansion", "expansion"):
            return [self._variable(child, splits=False)]
        return self._parts(child)

    def _literal(self, start: int, end: int) -> _Part:
        text = self.source[start:end].decode("utf-8", "replace")
        return _Part(_QUOTED_ESCAPE.sub(lambda found: "" if found[1] == "\n" else found[1], text))

    def _variable(self, node: Any, *, splits: bool) -> _Part:
        text = self._text(node).removeprefix("$")
        inner = text[1:-1] if text.startswith("{") else text
        match = re.fullmatch(r"([A-Za-z_][A-Za-z0-9_]*)(?:(:?-)(.*)|(\[[@*]\]))?", inner, re.DOTALL)
        value = None if match is None else self.variables.get(match[1])
        if match is None or (match[4] and not isinstance(value, Unknown)):
            return _unknown(f"`${text}` is not known without a shell", NOT_SET)
        name, default, otherwise, _ = match.groups()
        if default and (value is None or (value == "" and default == ":-")):
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

    def _whole_array(self, node: Any) -> tuple[str, ...] | None:
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
    """The words that the parts make. Spaces of expansions without quotes end a word; empty ones are no word."""
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
