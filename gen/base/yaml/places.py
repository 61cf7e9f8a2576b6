"""Places of values and of duplicate keys. Readers do not keep places, so the text is parsed again, as far as a finding
needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from yaml import events
from yaml.cyaml import CParser  # type: ignore[attr-defined] # the stubs import it without exporting it
from yaml.error import YAMLError

from gen.base.codes.files import DUPLICATE_KEY
from gen.base.findings import Findings, Route
from gen.base.yaml.yaml_errors import location

_STARTS = (events.MappingStartEvent, events.SequenceStartEvent)
_ENDS = (events.MappingEndEvent, events.SequenceEndEvent)


class _Value:
    """A value, as far as it was parsed."""

    __slots__ = ("entries", "is_complete", "is_mapping", "mark", "merged")

    def __init__(self, event: Any) -> None:
        self.mark = event.start_mark
        self.is_mapping = event.__class__ is events.MappingStartEvent
        self.is_complete = event.__class__ is events.ScalarEvent
        self.entries: dict[str | int, tuple[_Value, Any]] = {}
        """Values, and the marks of their keys, by key or by index."""
        self.merged: list[_Value] = []
        """Values of `<<`."""


class Places:
    """The marks of the values of the first document in a valid text."""

    __slots__ = ("_anchors", "_get", "_is_unique", "_key", "_key_of", "_open", "_root")

    def __init__(self, text: str, key_of: Callable[[Any], str], *, is_unique: bool) -> None:
        """`key_of` is the name that the reader gives to a key with this event.

        `is_unique` is whether no mapping has two equal keys or a merge key. Otherwise, the last of equal keys has the
        place, and the whole document is parsed.
        """
        self._get: Any = CParser(text).get_event
        self._key_of = key_of
        self._is_unique = is_unique
        self._root: _Value | None = None
        self._open: list[_Value] = []
        self._key: Any = None
        """The event of a key without a value."""
        self._anchors: dict[str, _Value] = {}

    def mark(self, route: Route, *, key: bool) -> Any:
        """The mark of the value at a route, or of its key; else of the nearest value around it.

        None if the document has no value.
        """
        while (self._root is None or not self._is_unique) and self._advance():
            pass
        value = self._root
        if value is None:
            return None
        mark = value.mark
        for step in route:
            entry = self._entry(value, step)
            if entry is None:
                break
            value, mark_of_key = entry
            mark = mark_of_key if key else value.mark
        return mark

    def _entry(self, value: _Value, step: str | int) -> tuple[_Value, Any] | None:
        while step not in value.entries and not value.is_complete and self._advance():
            pass
        for one in _with_merged(value):
            if step in one.entries:
                return one.entries[step]
        return None

    def _advance(self) -> bool:
        """Parse an event; False at the end of the document."""
        with suppress(YAMLError):
            event = self._get()
            kind = event.__class__
            if kind is events.AliasEvent:
                self._add(self._anchors[event.anchor], event)
            elif kind in _ENDS:
                self._open.pop().is_complete = True
            elif kind is events.ScalarEvent and self._open and self._open[-1].is_mapping and self._key is None:
                self._key = event
            elif kind is events.ScalarEvent or kind in _STARTS:
                value = _Value(event)
                if event.anchor is not None:
                    self._anchors[event.anchor] = value
                self._add(value, event)
                if kind is not events.ScalarEvent:
                    self._open.append(value)
            return kind is not events.DocumentEndEvent and event is not None
        return False

    def _add(self, value: _Value, event: Any) -> None:
        if not self._open:
            self._root = value
            return
        holder = self._open[-1]
        if not holder.is_mapping:
            holder.entries[len(holder.entries)] = value, event.start_mark
            return
        key, self._key = self._key, None
        holder.entries[self._key_of(key)] = value, key.start_mark
        if key.value == "<<":
            holder.merged.append(value)


def _with_merged(value: _Value) -> Iterator[_Value]:
    """The value, and the mappings that `<<` merges into it, each once: aliases may repeat them exponentially."""
    todo, seen = [value], {id(value)}
    while todo:
        mapping = todo.pop()
        yield mapping
        for merged in reversed(mapping.merged):
            inner = [merged] if merged.is_mapping else [one for one, _ in merged.entries.values()]
            for one in reversed(inner):
                if one.is_mapping and id(one) not in seen:
                    seen.add(id(one))
                    todo.append(one)


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
        while (kind := (event := get()).__class__) is not events.StreamEndEvent:
            if kind is events.ScalarEvent and is_key and keys is not None:
                first = keys.setdefault(key_of(event), event.start_mark)
                if first is not event.start_mark:
                    marks[event.start_mark.index] = first
            if kind in _STARTS:
                stack.append((keys, is_key))
                keys, is_key = ({}, True) if kind is events.MappingStartEvent else (None, False)
            elif kind in _ENDS:
                keys, is_key = stack.pop()
                is_key = not is_key
            elif kind in {events.ScalarEvent, events.AliasEvent}:
                is_key = not is_key
    return marks
