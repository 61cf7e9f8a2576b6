"""YAML events into plain data, with anchors, aliases and merges, within bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from gen.diagnostics import Location
from gen.load.refused import Refused
from gen.load.scalars import CACHE, MOST_CACHED, resolved

if TYPE_CHECKING:
    from gen.diagnostics import Findings
    from gen.kubernetes import Body

MAX_DEPTH = 200
MAX_VALUES = 2_000_000
"""With aliases written out."""

_TAGS = "tag:yaml.org,2002:"
_MERGE = object()


@dataclass(slots=True)
class Builder:
    """One pass over the events with a stack of its own."""

    parser: Any
    file: str
    found: Findings
    anchors: dict[str, Any] = field(default_factory=dict)
    merged: dict[int, set[str]] = field(default_factory=dict)
    """Keys that came into a mapping by `<<`, which its own may replace."""
    begins: list[tuple[int, int]] = field(default_factory=list)
    """Of each document: the character with which its first line begins, and that line, both counted from 0."""
    read: int = 0
    """Events of the documents before."""
    written_out: int = 0
    """Values that aliases stand for."""

    def documents(self) -> list[Any]:
        documents = []
        get = self.parser.get_event
        get()  # the stream starts
        while (event := get()).__class__ is not StreamEndEvent:
            self.anchors.clear()
            document = self._document()
            if document is not None:
                documents.append(document)
                self.begins.append((event.start_mark.index - event.start_mark.column, event.start_mark.line))
        return documents

    def _document(self) -> Any:  # noqa: C901, PLR0912 - one loop, which a call for each event would slow down by half
        stack: list[tuple[Any, Any]] = []
        holder: Any = None
        key: Any = None
        root: Any = None
        get = self.parser.get_event
        for number in range(self.read, MAX_VALUES):
            event = get()
            kind = event.__class__
            if kind is ScalarEvent:
                value = event.value
                if event.tag is not None or event.anchor is not None:
                    value = self._marked(event)
                elif event.implicit[0]:
                    value = CACHE.get(value, CACHE)
                    if value is CACHE:
                        value = self._plain(event)
                if key is None and holder.__class__ is dict:
                    plain = value.__class__ is str and value not in holder and value != "<<"
                    key = value if plain else self._key(event, value, holder)
                    continue
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                value = self._container(event, len(stack), expects_key=key is None and holder.__class__ is dict)
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                holder, key = stack.pop()
                continue
            elif kind is DocumentEndEvent:
                self.read = number
                return root
            else:
                value = self._alias(event, stack, holder, expects_key=key is None and holder.__class__ is dict)
            if holder is None:
                root = value
            elif holder.__class__ is not dict:
                holder.append(value)
            elif key is _MERGE and kind is AliasEvent:
                self._merge(event, holder, value)
                key = None
            else:
                holder["<<" if key is _MERGE else key] = value
                key = None
            if kind is MappingStartEvent or kind is SequenceStartEvent:
                stack.append((holder, key))
                holder, key = value, None
        raise Refused(event, "too-large", f"more than {MAX_VALUES} values in one file", "split the file")

    def _key(self, event: Any, value: Any, holder: Body) -> Any:
        if event.value == "<<" and event.implicit[0]:
            return _MERGE
        if value is None:
            raise Refused(event, "invalid-key", "a key is missing", "write a word before the `:`")
        key = str(value).lower() if isinstance(value, bool) else str(value)
        own = self.merged.get(id(holder), set())
        if key in holder and key not in own:
            place = Location(self.file, event.start_mark.line + 1, event.start_mark.column + 1)
            self.found.error("duplicate-key", place, f"`{key}` is given twice", "keep one of the two")
        own.discard(key)
        return key

    def _plain(self, event: Any) -> Any:
        value = resolved(event.value)
        if isinstance(value, float) and not math.isfinite(value):
            raise Refused(event, "not-a-number", f"`{event.value[:40]}` is no number that JSON has", "quote it")
        if len(CACHE) < MOST_CACHED:
            CACHE[event.value] = value
        return value

    def _marked(self, event: Any) -> Any:
        """A scalar with a tag or an anchor."""
        tag = event.tag.removeprefix(_TAGS) if event.tag is not None else "str" if not event.implicit[0] else ""
        if tag in {"str", "!", "timestamp"}:
            value: Any = event.value
        elif tag in {"", "int", "float", "bool", "null"}:
            value = self._plain(event)
        else:
            raise Refused(event, "tag", f"the tag `{event.tag}` is not read", "remove the tag, or quote the value")
        if event.anchor is not None:
            self.anchors[event.anchor] = value
        return value

    def _container(self, event: Any, depth: int, *, expects_key: bool) -> Any:
        if expects_key:
            raise Refused(event, "invalid-key", "a key must be a word, not a list or a mapping", "quote the key")
        if depth >= MAX_DEPTH:
            raise Refused(event, "too-deep", f"nested deeper than {MAX_DEPTH} levels", "flatten the data")
        if event.tag not in {None, f"{_TAGS}map", f"{_TAGS}seq"}:
            raise Refused(event, "tag", f"the tag `{event.tag}` is not read", "remove the tag")
        value: Any = {} if event.__class__ is MappingStartEvent else []
        if event.anchor is not None:
            self.anchors[event.anchor] = value
        return value

    def _alias(self, event: Any, stack: list[tuple[Any, Any]], holder: Any, *, expects_key: bool) -> Any:
        if event.anchor not in self.anchors:
            raise Refused(event, "anchor", f"nothing is called `&{event.anchor}`", "correct the name of the anchor")
        value = self.anchors[event.anchor]
        if expects_key:
            raise Refused(event, "invalid-key", "a key must be a word, not an alias", "write the word")
        if value.__class__ in {dict, list}:
            if value is holder or any(value is one for one, _ in stack):
                raise Refused(event, "anchor", f"`*{event.anchor}` stands inside itself", "write it out")
            size, depth = extent(value, {})
            self.written_out += size
            if len(stack) + depth > MAX_DEPTH or self.written_out > MAX_VALUES:
                message = "with its aliases written out, the document is too large"
                raise Refused(event, "too-large", message, "write it with fewer aliases")
        return value

    def _merge(self, event: Any, holder: Body, value: Any) -> None:
        for one in value if isinstance(value, list) else [value]:
            if not isinstance(one, dict):
                raise Refused(event, "invalid-key", "`<<` takes mappings", "name the anchor of a mapping")
            new = {key: inner for key, inner in one.items() if key not in holder}
            self.merged.setdefault(id(holder), set()).update(new)
            holder.update(new)


def extent(value: Any, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """How many values a value has, written out, and how many levels."""
    if not isinstance(value, dict | list):
        return 1, 0
    if id(value) not in known:
        inner = [extent(one, known) for one in (value.values() if isinstance(value, dict) else value)]
        known[id(value)] = 1 + sum(size for size, _ in inner), 1 + max((depth for _, depth in inner), default=0)
    return known[id(value)]
