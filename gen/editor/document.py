"""The text of a YAML file while it is being written: its fields with their lines, and the target of a cursor.

Half-written files have no tree. Lines are read by their indentation alone, so that every line above and below a mistake
keeps its place. Lines and columns count from 0, in characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Final

from msgspec import Struct

from gen.base import Route, regex

_KEY: Final = regex(
    r"""("(?:[^"\\]|\\.)*"\s*|'(?:[^']|'')*'\s*|[^\s#\[\]{},&*!|>'"%@`](?:[^#:]|:(?!\s|$))*):(?=\s|$)"""
)
"""A key with the spaces behind it. A character has one way to match, so that the time is linear in a line."""
_DASH: Final = regex(r"-(?:\s+|$)")
_BLOCK: Final = regex(r"[|>][-+0-9]*\s*(?:#.*)?$")
"""The header of a block scalar."""
_WORD: Final = regex(r"[\w./@-]*$")
_OPENING: Final = {"{": "}", "[": "]"}
_MOST_NESTED: Final = 200
"""Collections in each other, in one line, as separate nodes."""
MAX_LINES: Final = 20_000
"""Lines of a file that are read; no file of people has more."""


class Entry(Struct, frozen=True, kw_only=True):
    """A key with its line, or an item of a list without a key."""

    route: Route
    line: int
    column: int
    """Place of the key, or of the item."""
    end: int
    """The column behind the key; for an item, that of its end."""
    value: str
    """The text behind the key in its line, or of the item; without a comment and without spaces around it."""
    value_column: int


class Cursor(Struct, frozen=True, kw_only=True):
    """The target of a position in a text."""

    route: Route
    """The mapping with the key that is being written, or the value that is."""
    key: bool
    """Whether a key is being written."""
    value: bool
    """Whether a value is being written. An item of a list can become either."""
    word: str
    """The part of it before the cursor."""
    column: int
    """Where the word starts."""
    expression: str | None = None
    """The text between `{{` and the cursor inside of an expression."""
    before: tuple[str, ...] = ()
    """The keys that a mapping in braces has before the cursor."""


class _Reader:
    """Reads lines from top to bottom."""

    def __init__(self) -> None:
        self.stack: list[tuple[int, str | int]] = []
        """The columns and steps of the surrounding keys and items."""
        self.block: int | None = None
        """The indentation of the key of a block scalar, inside of one."""
        self.block_route: Route = ()

    def route(self) -> Route:
        return tuple(step for _, step in self.stack)

    def items(self, line: str, column: int) -> int:
        """Enter the items of lists that a line starts. Returns the column behind the last dash."""
        while (dash := _DASH.match(line, column)) is not None:
            while self.stack and self.stack[-1][0] > column:
                self.stack.pop()
            index = 0
            if self.stack and self.stack[-1][0] == column and isinstance(self.stack[-1][1], int):
                index = int(self.stack.pop()[1]) + 1
            self.stack.append((column, index))
            column = dash.end()
        return column

    def leave(self, column: int) -> None:
        """Leave the parts that do not contain a key at a column."""
        while self.stack and self.stack[-1][0] >= column:
            self.stack.pop()

    def is_text(self, line: str) -> bool:
        """Whether a line belongs to a block scalar."""
        if self.block is None:
            return False
        if not line.strip() or _indentation(line) > self.block:
            return True
        self.block = None
        return False

    def read(self, number: int, line: str) -> Iterator[Entry]:
        """The fields and items that a line starts. Of a flow collection, only the text."""
        if self.is_text(line):
            return
        stripped = line.lstrip(" ")
        if not stripped or stripped[0] in "#\t" or stripped.startswith(("---", "...")):
            return
        start = self.items(line, _indentation(line))
        key = _KEY.match(line, start)
        if key is None:
            if start > _indentation(line) and line[start:].strip():
                text = _without_comment(line[start:])
                end = start + len(text)
                yield Entry(route=self.route(), line=number, column=start, end=end, value=text, value_column=start)
            return
        self.leave(start)
        self.stack.append((start, _unquoted(key[1])))
        after = line[key.end() :]
        text = _without_comment(after)
        column = key.end() + len(after) - len(after.lstrip())
        end = start + len(key[1].rstrip())
        yield Entry(route=self.route(), line=number, column=start, end=end, value=text, value_column=column)
        if _BLOCK.match(text):
            self.block, self.block_route = _indentation(line), self.route()


class Document:
    """A text with the places of its fields."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")[:MAX_LINES]

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        reader = _Reader()
        return tuple(entry for number, line in enumerate(self.lines) for entry in reader.read(number, line.rstrip()))

    @cached_property
    def _by_route(self) -> dict[Route, Entry]:
        return {entry.route: entry for entry in reversed(self.entries)}

    def entry(self, route: Route) -> Entry | None:
        """The first entry with a route."""
        return self._by_route.get(route)

    def value(self, *route: str | int) -> str:
        """The scalar of a field as it is written in its line, without quotes; empty if there is none."""
        entry = self.entry(route)
        return _unquoted(entry.value) if entry is not None else ""

    def keys(self, route: Route) -> list[str]:
        """The keys of a mapping, as far as each is at the start of a line."""
        return [str(one.route[-1]) for one in self.entries if one.route[:-1] == route and one.route]

    def entry_at(self, line: int, column: int) -> Entry | None:
        """The entry with a position in its key or its value."""
        for entry in self.entries:
            if entry.line == line and entry.column <= column <= max(entry.end, entry.value_column + len(entry.value)):
                return entry
        return None

    def cursor(self, line: int, column: int) -> Cursor | None:
        """The target of a position; None in a comment."""
        reader = _Reader()
        for number, text in enumerate(self.lines[:line]):
            for _ in reader.read(number, text.rstrip()):
                pass
        before = self.lines[line][:column] if line < len(self.lines) else ""
        _, opening, after = before[before.rfind("}}") + 1 :].partition("{{")
        inside = after if opening else None
        if reader.is_text(before if before.strip() else before + "x"):
            return _value(reader.block_route, before, inside)
        if _without_comment(before) != before.strip():
            return None
        start = reader.items(before, _indentation(before))
        key = _KEY.match(before, start)
        if key is None:
            item = start > _indentation(before)
            if not item:
                reader.leave(start if before.strip() else column)
            elif reader.stack:
                reader.leave(start)
            word = before[start:]
            if word[:1] in _OPENING and item:
                return _flow(reader.route(), before, start, inside)
            return Cursor(route=reader.route(), key=True, value=item, word=word, column=start, expression=inside)
        reader.leave(start)
        route = (*reader.route(), _unquoted(key[1]))
        rest = before[key.end() :]
        at = key.end() + len(rest) - len(rest.lstrip())
        if rest.lstrip()[:1] in _OPENING and rest.strip():
            return _flow(route, before, at, inside)
        return _value(route, before, inside, at)


def _value(route: Route, before: str, expression: str | None, start: int | None = None) -> Cursor:
    """A cursor in a value, which starts at a column or is the last word before the cursor."""
    if start is None or expression is not None:
        start = _WORD.search(before).start()  # type: ignore[union-attr] # it matches the empty text, too
    word = before[start:]
    quote = 1 if word[:1] in {'"', "'"} else 0
    return Cursor(route=route, key=False, value=True, word=word[quote:], column=start + quote, expression=expression)


def _flow(route: Route, before: str, start: int, expression: str | None) -> Cursor:
    """A cursor in a flow collection that starts in the same line."""
    open_: list[tuple[str, Route]] = []
    keys: dict[Route, list[str]] = {}
    here, word, is_key, index, quote = route, start, False, 0, ""
    position = start
    while position < len(before):
        char = before[position]
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and not before[word:position].strip():
            quote = char
        elif char in _OPENING and len(open_) < _MOST_NESTED:
            open_.append((char, here))
            is_key, index, word = char == "{", 0, position + 1
            here = here if is_key else (*here, 0)
        elif char in "}]" and open_:
            _, here = open_.pop()
            is_key, word = False, position + 1
        elif char == "," and open_:
            kind, holder = open_[-1]
            is_key, word = kind == "{", position + 1
            index = index + 1 if kind == "[" else 0
            here = holder if is_key else (*holder, index)
        elif char == ":" and is_key and before[position + 1 : position + 2] in {"", " "}:
            key = _unquoted(before[word:position].strip())
            keys.setdefault(open_[-1][1], []).append(key)
            here = (*open_[-1][1], key)
            is_key, word = False, position + 1
        position += 1
    text = before[word:]
    column = word + len(text) - len(text.lstrip())
    item = bool(open_) and open_[-1][0] == "["
    return Cursor(
        route=here,
        key=is_key,
        value=not is_key or item,
        word=text.lstrip(),
        column=column,
        expression=expression,
        before=tuple(keys.get(here, ())),
    )


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _without_comment(text: str) -> str:
    """A text without the comment at its end, and without spaces around it."""
    quote = ""
    for position, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and (position == 0 or text[position - 1] in " [{,:"):
            quote = char
        elif char == "#" and (position == 0 or text[position - 1] == " "):
            return text[:position].strip()
    return text.strip()
