"""The correction that a hint prints as the only one, as a change of the text: `did you mean …?` or `write …`.

The hint has the new text, and the finding its place. Whether it helps is for a render to judge.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from msgspec import Struct
from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from gen.base import Diagnostic, Findings, Fix, Route, follow, near, regex
from gen.base.codes.grants import NOT_GRANTED
from gen.base.codes.jobs import INVALID_VALUE
from gen.base.repository.layout import is_fixable
from gen.base.yaml.source import node_of
from gen.base.yaml.strict import Data, parse
from gen.edit.change import Change, EditError
from gen.edit.splice import edited, renamed

_MEANT: Final = regex(r"did you mean `([^`]+)`\?")
_WRITE: Final = regex(r"write `([^`]+)`(?:, not a list|, without `name`)?")
_QUOTED: Final = regex(r"`([^`]+)`")
_OPEN: Final = ("…", "<")
"""Signs that the author has to fill in a part."""


class Printed(Struct, frozen=True, kw_only=True):
    """A correction at a line and a column, which count from 1."""

    line: int
    column: int
    meant: str = ""
    """The word that was meant."""
    write: str = ""
    """What to write instead, in YAML."""
    words: tuple[str, ...] = ()
    """The quoted words of the message, with the word in question."""


AnyFix = Fix | Printed


def fixes_of(item: Diagnostic) -> tuple[AnyFix, ...]:
    """The edits of the file that correct a finding, to be tried in this order."""
    return item.fixes or printed(item)


def may_be_fixed(item: Diagnostic) -> bool:
    """Whether `gen check --fix` tries to correct a finding."""
    return is_fixable(item.place.file) and bool(fixes_of(item))


def printed(item: Diagnostic) -> tuple[Printed, ...]:
    """The correction that a finding prints, if it is the only one, and complete."""
    if item.code == NOT_GRANTED.name:  # the name is right, and another one would do something else
        return ()
    meant, write = _MEANT.fullmatch(item.hint), _WRITE.fullmatch(item.hint)
    if meant is None and (write is None or item.code != INVALID_VALUE.name or any(one in write[1] for one in _OPEN)):
        return ()
    return (
        Printed(
            line=item.place.line,
            column=item.place.column,
            meant=meant[1] if meant is not None else "",
            write=write[1] if write is not None else "",
            words=tuple(_QUOTED.findall(item.message)),
        ),
    )


def corrected(text: str, fix: Printed) -> str:
    """The text with a correction. EditError if the text is another one."""
    for route, is_key in _at(node_of(text), (), fix.line - 1, fix.column - 1):
        with suppress(EditError):
            return _meant(text, fix, route, is_key=is_key) if fix.meant else _written(text, fix, route)
    raise EditError("the file has another text there", "edit the file", ())


def _at(node: Any, route: Route, line: int, column: int) -> Iterator[tuple[Route, bool]]:
    """The routes of the keys and values at a position: a mapping starts where its first key does."""
    if isinstance(node, MappingNode):
        inner: Iterator[tuple[Any, Any]] = ((key, value) for key, value in node.value)
        for key, value in inner:
            if _starts(key, line, column):
                yield (*route, key.value), True
            yield from _at(value, (*route, key.value), line, column)
    elif isinstance(node, SequenceNode):
        for index, value in enumerate(node.value):
            yield from _at(value, (*route, index), line, column)
    if route and node is not None and _starts(node, line, column):
        yield route, False


def _starts(node: Any, line: int, column: int) -> bool:
    """Whether a node starts at a position, or is a text with it inside, such as with an expression."""
    start, end = ((mark.line, mark.column) for mark in (node.start_mark, node.end_mark))
    return start == (line, column) or (isinstance(node, ScalarNode) and start < (line, column) < end)


def _meant(text: str, fix: Printed, route: Route, *, is_key: bool) -> str:
    if is_key:
        return renamed(text, route, fix.meant)
    value = follow(parse(text, "", Findings()), route)
    known = [word for word in fix.words if isinstance(value, str) and value.count(word) == 1]
    if not isinstance(value, str) or not known:
        raise EditError("the file has another text there", "edit the file", route)
    word = near(fix.meant, known) or max(known, key=len)
    return edited(text, Change(route, value.replace(word, fix.meant)))


def _written(text: str, fix: Printed, route: Route) -> str:
    """The text with the value that the hint shows, with or without the name of its field."""
    new: Data | None = parse(fix.write, "", Findings())
    old, name = follow(parse(text, "", Findings()), route), route[-1]
    if new is None or (isinstance(old, str) and old not in fix.words):
        raise EditError("the file has another text there", "edit the file", route)
    if isinstance(new, dict) and len(new) == 1 and not fix.write.startswith("{"):
        ((key, new),) = new.items()
        if key != name:
            return edited(renamed(text, route, key), Change((*route[:-1], key), new))
    return edited(text, Change(route, new))
