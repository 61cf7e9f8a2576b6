"""Steps of a backtracking search, as `re` makes them. `re` itself neither counts nor limits its steps."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

c: Any = import_module("re._constants")
parser: Any = import_module("re._parser")

Node = tuple[Any, Any]
_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    c.CATEGORY_DIGIT: str.isdecimal,
    c.CATEGORY_NOT_DIGIT: lambda char: not char.isdecimal(),
    c.CATEGORY_SPACE: str.isspace,
    c.CATEGORY_NOT_SPACE: lambda char: not char.isspace(),
    c.CATEGORY_WORD: lambda char: char.isalnum() or char == "_",
    c.CATEGORY_NOT_WORD: lambda char: not (char.isalnum() or char == "_"),
}


class TooManyStepsError(Exception):
    """A search takes more steps than allowed."""


class Search:
    """A search of one text that counts each visit of a node of the pattern, and each character of a repetition."""

    def __init__(self, pattern: str, flags: int, text: str, limit: int) -> None:
        self._nodes = list(parser.parse(pattern, flags))
        self._text, self._fold, self._limit = text, bool(flags & re.IGNORECASE), limit
        self.steps = 0

    def run(self, method: str) -> list[tuple[int, int]]:
        """Starts and ends of all matches, of the first match for `search`, `match` and `fullmatch`."""
        found: list[tuple[int, int]] = []
        start = 0
        while start <= len(self._text):
            ends = self._ends(self._nodes, start, self._fold)
            end = next((one for one in ends if method != "fullmatch" or one == len(self._text)), None)
            if end is not None:
                found.append((start, end))
            if method in {"match", "fullmatch"} or (method == "search" and found):
                break
            start = start + 1 if end is None else max(end, start + 1)
        return found

    def _step(self, count: int = 1) -> None:
        self.steps += count
        if self.steps > self._limit:
            raise TooManyStepsError

    def _ends(self, nodes: Sequence[Node], position: int, fold: bool) -> Iterator[int]:
        """Positions where a match of the nodes can end, in the order that `re` tries."""
        if not nodes:
            yield position
            return
        for end in self._node(*nodes[0], position, fold):
            yield from self._ends(nodes[1:], end, fold)

    def _node(self, kind: Any, value: Any, position: int, fold: bool) -> Iterator[int]:
        self._step()
        if kind in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
            ends = self._repeat(value, position, fold, greedy=kind is not c.MIN_REPEAT)
            yield from ends if kind is not c.POSSESSIVE_REPEAT else _first(ends)
        elif kind in (c.BRANCH, c.SUBPATTERN, c.ATOMIC_GROUP):
            yield from self._group(kind, value, position, fold)
        elif kind in (c.ASSERT, c.ASSERT_NOT):
            yield from [position] * (self._looks(value[0], value[1], position, fold) == (kind is c.ASSERT))
        elif kind is c.AT:
            yield from [position] * self._at(value, position)
        elif self._is(kind, value, position, fold):
            yield position + 1

    def _group(self, kind: Any, value: Any, position: int, fold: bool) -> Iterator[int]:
        if kind is c.BRANCH:
            for branch in value[1]:
                yield from self._ends(list(branch), position, fold)
        elif kind is c.SUBPATTERN:
            _, added, removed, inner = value
            fold = (fold or bool(added & re.IGNORECASE)) and not removed & re.IGNORECASE
            yield from self._ends(list(inner), position, fold)
        else:
            yield from _first(self._ends(list(value), position, fold))

    def _repeat(self, value: Any, position: int, fold: bool, *, greedy: bool) -> Iterator[int]:
        low, high, inner = value
        nodes = list(inner)
        if len(nodes) > 1 or nodes[0][0] not in (c.LITERAL, c.NOT_LITERAL, c.IN, c.ANY):
            yield from self._times(nodes, low, int(high), position, fold, greedy=greedy)
            return
        length = 0
        while length < int(high) and self._is(nodes[0][0], nodes[0][1], position + length, fold):
            length += 1
        self._step(length)
        lengths = range(length, low - 1, -1) if greedy else range(low, length + 1)
        yield from (position + one for one in lengths)

    def _times(
        self, nodes: Sequence[Node], low: int, high: int, position: int, fold: bool, *, greedy: bool
    ) -> Iterator[int]:
        self._step()
        if low <= 0 and not greedy:
            yield position
        if high > 0:
            for end in self._ends(nodes, position, fold):
                if end > position:
                    yield from self._times(nodes, low - 1, high - 1, end, fold, greedy=greedy)
        if low <= 0 and greedy:
            yield position

    def _looks(self, direction: int, inner: Any, position: int, fold: bool) -> bool:
        start = position if direction > 0 else position - inner.getwidth()[0]
        return start >= 0 and next(self._ends(list(inner), start, fold), None) is not None

    def _at(self, place: Any, position: int) -> bool:
        text = self._text
        if place in (c.AT_BEGINNING, c.AT_BEGINNING_STRING):
            return position == 0
        if place is c.AT_END:
            return text[position:] in ("", "\n")
        if place is c.AT_END_STRING:
            return position == len(text)
        word = _CATEGORIES[c.CATEGORY_WORD]
        before, after = text[max(position - 1, 0) : position], text[position : position + 1]
        boundary = bool(before and word(before)) != bool(after and word(after))
        return boundary == (place is c.AT_BOUNDARY)

    def _is(self, kind: Any, value: Any, position: int, fold: bool) -> bool:
        if position >= len(self._text):
            return False
        char = self._text[position]
        return any(_matches(kind, value, one) for one in ((char.lower(), char.upper()) if fold else (char,)))


def _first(ends: Iterator[int]) -> Iterator[int]:
    for end in ends:
        yield end
        return


def _matches(kind: Any, value: Any, char: str) -> bool:
    if kind is c.ANY:
        return char != "\n"
    if kind is c.LITERAL:
        return bool(ord(char) == value)
    if kind is c.NOT_LITERAL:
        return bool(ord(char) != value)
    if kind is c.RANGE:
        return bool(value[0] <= ord(char) <= value[1])
    if kind is c.CATEGORY:
        return _CATEGORIES[value](char)
    assert kind is c.IN, kind
    negated = value[0][0] is c.NEGATE
    return any(_matches(one[0], one[1], char) for one in value[negated:]) != bool(negated)
