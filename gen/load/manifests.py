"""Manifests that anybody wrote, read as `kubectl`, Argo CD and Flux read them: streams of YAML 1.1, or JSON.

A scalar is what `sigs.k8s.io/yaml` makes of it, and not what YAML 1.2 says: `yes` is true, `010` is 8, `1e3` a
number, a date is text. Built from libyaml's events and not from its nodes, which would crash on deep nesting; what
aliases make of a few lines is counted as if it were written out.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from yaml.cyaml import CParser, CSafeLoader  # type: ignore[attr-defined] # the stubs import it without saying so
from yaml.error import MarkedYAMLError, YAMLError
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
from yaml.nodes import MappingNode, SequenceNode
from yaml.reader import ReaderError

from gen.diagnostics import Location
from gen.load.scalars import CACHE, MOST_CACHED, NULLS, resolved

if TYPE_CHECKING:
    from gen.diagnostics import Findings, Route
    from gen.kubernetes import Body

MAX_DEPTH = 200
MAX_VALUES = 2_000_000
"""With aliases written out."""

MAX_BYTES = 16 << 20

_TAGS = "tag:yaml.org,2002:"
_MERGE = object()


class _Refused(Exception):  # noqa: N818 - control flow inside this module, never seen outside
    def __init__(self, event: Any, code: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.mark, self.code, self.message, self.hint = event.start_mark, code, message, hint


@dataclass(frozen=True)
class Manifests:
    """The documents of one file. Where something stands is only looked up when it is asked for."""

    file: str
    text: str
    documents: tuple[Any, ...]

    def place(self, document: int, route: Route, *, key: bool = False) -> Location:
        """Where the value at a route stands, or its key, or the nearest thing around it that is there."""
        if document >= len(self._roots):
            return Location(self.file)
        node = self._roots[document]
        mark = named = node.start_mark
        for step in route:
            node, named = _inner(node, step)
            if node is None:
                break
            # nothing stands where an empty value is, and that may be the next line
            mark = named if key or (node.value == "" and node.start_mark == node.end_mark) else node.start_mark
        return Location(self.file, mark.line + 1, mark.column + 1)

    @cached_property
    def _roots(self) -> list[Any]:
        loader = CSafeLoader(self.text)
        roots: list[Any] = []
        try:
            while loader.check_node():
                node: Any = loader.get_node()
                if isinstance(node, MappingNode | SequenceNode) or node.value not in NULLS:
                    roots.append(node)
        except YAMLError:  # JSON that is no YAML
            return []
        return roots


def _inner(node: Any, step: str | int) -> tuple[Any, Any]:
    if isinstance(node, MappingNode):
        for name, value in reversed(node.value):
            if name.value == step or str(resolved(name.value)) == step:
                return value, name.start_mark
    elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step], node.value[step].start_mark
    return None, None


def read_manifests(raw: bytes, file: str, found: Findings) -> Manifests | None:
    """Every document in a file; None when something was found that makes it unreadable."""
    if len(raw) > MAX_BYTES:
        found.error("too-large", Location(file), f"the file is larger than {MAX_BYTES >> 20} MiB", "split it")
        return None
    try:
        text = raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        place = Location(file, line, error.start - raw.rfind(b"\n", 0, error.start))
        found.error("not-utf-8", place, "the file is not UTF-8", "save it as UTF-8")
        return None
    try:
        return Manifests(file, text, tuple(_Reader(CParser(text), file, found).documents()))
    except _Refused as problem:
        found.error(problem.code, _at(file, problem.mark), problem.message, problem.hint)
    except MarkedYAMLError as error:
        as_json = _json(text)
        if as_json is not None:
            return Manifests(file, text, (as_json,))
        mark = error.problem_mark or error.context_mark
        said = " ".join(str(error.problem or error.context or "unreadable").split())
        remedy = "check the indentation, quotes and brackets of this line and the one above"
        found.error("invalid-yaml", _at(file, mark), f"not valid YAML: {said}", remedy)
    except ReaderError as error:
        before = text[: error.position] if isinstance(error.position, int) else ""
        place = Location(file, before.count("\n") + 1, len(before) - before.rfind("\n"))
        found.error("invalid-yaml", place, f"not valid YAML: {error.reason}", "remove the character")
    except YAMLError as error:  # pragma: no cover - libyaml marks every error it knows
        found.error("invalid-yaml", Location(file), f"not valid YAML: {error}", "check the file's encoding")
    return None


def _json(text: str) -> Any | None:
    """What YAML does not take of JSON: tabs as indentation, halves of surrogate pairs."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = json.loads(text, parse_int=resolved, parse_constant=_refuse)
        if _extent(value, {})[1] > MAX_DEPTH:
            return None
        whole = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")  # halves of pairs become marks
        return json.loads(whole, parse_int=resolved)
    except (ValueError, RecursionError):
        return None


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no number that JSON has")


@dataclass(slots=True)
class _Reader:
    """One pass over the events with a stack of its own."""

    parser: Any
    file: str
    found: Findings
    anchors: dict[str, Any] = field(default_factory=dict)
    merged: dict[int, set[str]] = field(default_factory=dict)
    """Keys that came into a mapping by `<<`, which its own may replace."""
    written_out: int = 0
    """Values that aliases stand for."""

    def documents(self) -> list[Any]:
        documents = []
        get = self.parser.get_event
        get()  # the stream starts
        while get().__class__ is not StreamEndEvent:
            self.anchors.clear()
            document = self._document()
            if document is not None:
                documents.append(document)
        return documents

    def _document(self) -> Any:  # noqa: C901, PLR0912 - one loop, which a call for each event would slow down by half
        stack: list[tuple[Any, Any]] = []
        holder: Any = None
        key: Any = None
        root: Any = None
        get = self.parser.get_event
        for _ in range(MAX_VALUES):
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
                    key = self._key(event, value, holder)
                    continue
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                value = self._container(event, len(stack), expects_key=key is None and holder.__class__ is dict)
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                holder, key = stack.pop()
                continue
            elif kind is DocumentEndEvent:
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
        raise _Refused(event, "too-large", f"more than {MAX_VALUES} values in one document", "split the file")

    def _key(self, event: Any, value: Any, holder: Body) -> Any:
        if event.value == "<<" and event.implicit[0]:
            return _MERGE
        if value is None:
            raise _Refused(event, "invalid-key", "a key is missing", "write a word before the `:`")
        key = str(value).lower() if isinstance(value, bool) else str(value)
        own = self.merged.get(id(holder), set())
        if key in holder and key not in own:
            place = _at(self.file, event.start_mark)
            self.found.error("duplicate-key", place, f"`{key}` is given twice", "keep one of the two")
        own.discard(key)
        return key

    def _plain(self, event: Any) -> Any:
        value = resolved(event.value)
        if isinstance(value, float) and not math.isfinite(value):
            raise _Refused(event, "not-a-number", f"`{event.value}` is no number that JSON has", "quote it")
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
            raise _Refused(event, "tag", f"the tag `{event.tag}` is not read", "remove the tag, or quote the value")
        if event.anchor is not None:
            self.anchors[event.anchor] = value
        return value

    def _container(self, event: Any, depth: int, *, expects_key: bool) -> Any:
        if expects_key:
            raise _Refused(event, "invalid-key", "a key must be a word, not a list or a mapping", "quote the key")
        if depth >= MAX_DEPTH:
            raise _Refused(event, "too-deep", f"nested deeper than {MAX_DEPTH} levels", "flatten the data")
        if event.tag not in {None, f"{_TAGS}map", f"{_TAGS}seq"}:
            raise _Refused(event, "tag", f"the tag `{event.tag}` is not read", "remove the tag")
        value: Any = {} if event.__class__ is MappingStartEvent else []
        if event.anchor is not None:
            self.anchors[event.anchor] = value
        return value

    def _alias(self, event: Any, stack: list[tuple[Any, Any]], holder: Any, *, expects_key: bool) -> Any:
        if event.anchor not in self.anchors:
            raise _Refused(event, "anchor", f"nothing is called `&{event.anchor}`", "correct the name of the anchor")
        value = self.anchors[event.anchor]
        if expects_key:
            raise _Refused(event, "invalid-key", "a key must be a word, not an alias", "write the word")
        if value.__class__ in {dict, list}:
            if value is holder or any(value is one for one, _ in stack):
                raise _Refused(event, "anchor", f"`*{event.anchor}` stands inside itself", "write it out")
            size, depth = _extent(value, {})
            self.written_out += size
            if len(stack) + depth > MAX_DEPTH or self.written_out > MAX_VALUES:
                message = "with its aliases written out, the document is too large"
                raise _Refused(event, "too-large", message, "write it with fewer aliases")
        return value

    def _merge(self, event: Any, holder: Body, value: Any) -> None:
        for one in value if isinstance(value, list) else [value]:
            if not isinstance(one, dict):
                raise _Refused(event, "invalid-key", "`<<` takes mappings", "name the anchor of a mapping")
            new = {key: inner for key, inner in one.items() if key not in holder}
            self.merged.setdefault(id(holder), set()).update(new)
            holder.update(new)


def _extent(value: Any, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """How many values a value has, written out, and how many levels."""
    if not isinstance(value, dict | list):
        return 1, 0
    if id(value) not in known:
        inner = [_extent(one, known) for one in (value.values() if isinstance(value, dict) else value)]
        known[id(value)] = 1 + sum(size for size, _ in inner), 1 + max((depth for _, depth in inner), default=0)
    return known[id(value)]


def _at(file: str, mark: Any) -> Location:
    return Location(file, mark.line + 1, mark.column + 1) if mark is not None else Location(file)
