"""Places of keys that a text has before their duplicates. Readers do not keep places, so the text is parsed again."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from yaml.cyaml import CParser  # type: ignore[attr-defined] # the stubs import it without exporting it
from yaml.error import YAMLError
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from gen.findings.files import DUPLICATE_KEY
from gen.load.yaml_errors import location

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.diagnostics import Findings


_MAX_TEXT = 2 << 20
"""Characters of a text. The keys of a larger one would take hundreds of MiB."""


class FirstKeys:
    """The places of first keys by their duplicates. The text is parsed for the first duplicate that is reported."""

    __slots__ = ("_file", "_first", "_key", "_text")

    def __init__(self, text: str, file: str, key: Callable[[Any], str]) -> None:
        """`key` is the name that the reader gives to a key with this event."""
        self._text, self._file, self._key = text, file, key
        self._first: dict[int, Any] | None = None

    def report(self, event: Any, key: str, found: Findings) -> None:
        """Report a duplicate key with the place of the first one."""
        if self._first is None:
            self._first = _first_marks(self._text, self._key) if len(self._text) <= _MAX_TEXT else {}
        first = self._first.get(event.start_mark.index)
        related = [(location(self._file, first), "the first one")] if first is not None else ()
        place = location(self._file, event.start_mark)
        found.error(DUPLICATE_KEY, place, f"duplicate key `{key}`", "remove one of the two", related)


def _first_marks(text: str, key_of: Callable[[Any], str]) -> dict[int, Any]:
    """The mark of the first key by the index of each duplicate, as far as the text is YAML."""
    marks: dict[int, Any] = {}
    get: Any = CParser(text).get_event
    keys: dict[str, Any] | None = None
    """The keys of the mapping; None in a list."""
    is_key = False
    stack: list[tuple[dict[str, Any] | None, bool]] = []
    with suppress(YAMLError):
        while (kind := (event := get()).__class__) is not StreamEndEvent:
            if kind is ScalarEvent and is_key and keys is not None:
                first = keys.setdefault(key_of(event), event.start_mark)
                if first is not event.start_mark:
                    marks[event.start_mark.index] = first
            if kind in {MappingStartEvent, SequenceStartEvent}:
                stack.append((keys, is_key))
                keys, is_key = ({}, True) if kind is MappingStartEvent else (None, False)
            elif kind in {MappingEndEvent, SequenceEndEvent}:
                keys, is_key = stack.pop()
                is_key = not is_key
            elif kind in {ScalarEvent, AliasEvent}:
                is_key = not is_key
    return marks
