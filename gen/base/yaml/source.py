"""One parsed input file, and the places of its values."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from msgspec import Struct
from yaml.cyaml import CParser  # type: ignore[attr-defined] # the stubs import the parser without exporting it
from yaml.events import MappingStartEvent
from yaml.nodes import MappingNode, SequenceNode

from gen.base.codes.files import NOT_A_FILE, NOT_UTF_8, TOO_LARGE, UNREADABLE
from gen.base.codes.jobs import INVALID_VALUE
from gen.base.findings import Findings, Location, Route
from gen.base.lazy import regex
from gen.base.repository.files import MAX_BYTES, NotRegularError, TooLargeError, linked_folder, read_regular
from gen.base.yaml.strict import Data, parse
from gen.base.yaml.yaml_errors import slip_in

_LARGE = 64
"""Keys of a mapping from which on an index of them is faster than a search for each finding."""


class FoundRoute(Struct, frozen=True):
    """The part of a route that exists in a file, and its place."""

    steps: int
    """Number of steps that exist."""
    ends: bool
    """Whether the route ends at a text or a list where it would need a mapping."""
    key: Location
    value: Location


class Scalar(Struct, frozen=True):
    """A scalar in the text of a file."""

    style: str
    """A quote, `|` or `>`; empty without any."""
    value: str
    raw: str
    rest: str
    """The text behind it in its last line."""
    start: Location
    end: Location


class Source(Struct, frozen=True, dict=True):
    """A parsed file. Places are looked up only when a finding needs one, by parsing the text again."""

    file: str
    text: str
    data: Data
    digest: str = ""
    """SHA-256 of the file's bytes."""
    old_names: Mapping[Route, str] = {}
    """Keys in the text of fields that have another name in the data, by their routes there."""

    @cached_property
    def _root(self) -> Any:
        return node_of(self.text)

    @cached_property
    def _spans(self) -> dict[str, tuple[int, int, int]]:
        return _field_spans(self.text, self.data) if isinstance(self.data, dict) else {}

    @cached_property
    def _parsed(self) -> dict[str, tuple[Any, int]]:
        """Results of `_node_with`."""
        return {}

    def _node_with(self, field: str) -> tuple[Any, int]:
        """A mapping with a field, and the number of lines before it. Other fields are not parsed if possible."""
        if field not in self._spans:
            return self._root, 0
        if field not in self._parsed:
            start, end, before = self._spans[field]
            self._parsed[field] = node_of(self.text[start:end]), before
        return self._parsed[field]

    @cached_property
    def _start(self) -> Location:
        """The place of the first key. The data is a mapping."""
        if self.text[:1].isalnum():  # a key without quotes, as in nearly all files
            return Location(self.file, 1, 1)
        parser = CParser(self.text)
        while not isinstance(event := parser.get_event(), MappingStartEvent | None):
            pass
        return Location(self.file, 1, 1) if event is None else self._at(event.start_mark)

    def _pair(self, node: Any, name: str) -> tuple[Any, Any] | None:
        """The nodes of a key and its value. A large mapping has an index: each of its fields may have a finding."""
        if len(node.value) < _LARGE:
            return next(((key, value) for key, value in node.value if key.value == name), None)
        if node not in self._indices:
            self._indices[node] = {key.value: (key, value) for key, value in reversed(node.value)}
        return self._indices[node].get(name)

    @cached_property
    def _indices(self) -> dict[Any, dict[str, tuple[Any, Any]]]:
        return {}

    def find(self, route: Route) -> FoundRoute:
        """Follow a route as far as it exists in this file."""
        if isinstance(self.data, dict) and (not route or route[0] not in self.data):
            return FoundRoute(0, False, self._start, self._start)  # without positions of all values
        node, before = self._node_with(str(route[0])) if route else (self._root, 0)
        key_mark = node.start_mark
        steps = 0
        for step in self.written_route(route) if self.old_names else route:
            if isinstance(node, MappingNode) and isinstance(step, str):
                pair = self._pair(node, step)
                if pair is None:
                    break
                key_mark, node = pair[0].start_mark, pair[1]
            elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
                key_mark = node.start_mark
            else:
                break
            steps += 1
        value_mark = node.start_mark if steps else key_mark
        key, value = self._at(key_mark, before), self._at(value_mark, before)
        return FoundRoute(steps, not isinstance(node, MappingNode), key, value)

    def place(self, route: Route, *, key: bool = False) -> Location:
        """The place of the value at `route`, or of its key; else of the nearest value around it."""
        found = self.find(route)
        return found.key if key else found.value

    def written_route(self, route: Route) -> Route:
        """A route of the data with the keys that the text has."""
        return tuple(self.old_names.get(route[: index + 1], step) for index, step in enumerate(route))

    def scalars(self) -> Iterator[tuple[Route, Scalar]]:
        """All values that are scalars, as they are written, in the order of the file."""
        todo: list[tuple[Route, Any]] = [((), self._root)]
        while todo:
            route, node = todo.pop()
            if isinstance(node, MappingNode):
                todo += [((*route, key.value), value) for key, value in reversed(node.value)]
            elif isinstance(node, SequenceNode):
                todo += [((*route, index), value) for index, value in reversed(list(enumerate(node.value)))]
            else:
                start, end = node.start_mark, node.end_mark
                line_end = self.text.find("\n", end.index)
                rest = self.text[end.index : line_end if line_end >= 0 else None]
                raw = self.text[start.index : end.index]
                yield route, Scalar(node.style or "", node.value, raw, rest, self._at(start), self._at(end))

    def _at(self, mark: Any, before: int = 0) -> Location:
        return Location(self.file, before + mark.line + 1, mark.column + 1)


def read(root: Path, file: str, found: Findings) -> Source | None:
    """Read a regular file at a path below `root`; links could lead anywhere. None, with a finding, on errors."""
    here = Location(file)
    if (folder := linked_folder(root, file)) is not None:
        hint = "gen does not follow links; replace it with the folder"
        found.error(NOT_A_FILE, here, f"folder `{folder}` is a symbolic link", hint)
        return None
    try:
        return source_of(read_regular(f"{root}/{file}", MAX_BYTES), file, found)
    except NotRegularError:
        hint = "gen does not follow links; replace it with the file"
        found.error(NOT_A_FILE, here, "not a regular file", hint)
    except TooLargeError:
        found.error(TOO_LARGE, here, f"file is larger than {MAX_BYTES} bytes", "split it")
    except OSError as error:
        found.error(UNREADABLE, here, f"file is unreadable: {error.strerror}", "check that it exists and is readable")
    return None


def source_of(raw: bytes, file: str, found: Findings) -> Source | None:
    """Decode and parse bytes that need not come from a file."""
    try:
        text = raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8").removeprefix("\ufeff")
        place = Location(file, before.count("\n") + 1, len(before) - before.rfind("\n"))
        found.error(NOT_UTF_8, place, "file is not UTF-8", "save it as UTF-8")
        return None
    data = parse(text, file, found)
    return None if data is None else Source(file, text, data, hashlib.sha256(raw).hexdigest())


def report_not_a_mapping(source: Source, what: str, found: Findings) -> None:
    """Report the mistake that turned the mapping into a string, if it is known."""
    place, form = source.place(()), "a string" if isinstance(source.data, str) else "a list"
    slip = slip_in(source.data) if isinstance(source.data, str) else None
    if slip is not None:
        here = Location(place.file, place.line, place.column + slip.column)
        found.error(INVALID_VALUE, here, f"{what} must be a mapping: {slip.message}", slip.hint)
        return
    hint = "write `field: value` lines" if form == "a string" else "write `field: value` lines, without `- `"
    found.error(INVALID_VALUE, place, f"{what} must be a mapping of fields, got {form}", hint)


class _NodeLoader(CParser):
    """Nodes without the tags of their values: to resolve them takes as long as the parsing."""

    def resolve(self, kind: type, value: str | None, implicit: object) -> str:
        return ""

    def descend_resolver(self, node: object, index: object) -> None:
        """Called by the parser."""

    def ascend_resolver(self) -> None:
        """Called by the parser."""


def node_of(text: str) -> Any:
    """The node of the one document in a text that was parsed without an error."""
    return _NodeLoader(text).get_single_node()


def _field_spans(text: str, fields: Collection[str]) -> dict[str, tuple[int, int, int]]:
    """The start and the end of the text of each field of a file, and the number of lines before it.

    Empty unless the file starts with a plain key at the start of a line, as nearly all files do: then each key of the
    mapping is there. If other lines start like keys, such as those of a quoted text, there are more than fields.
    """
    if "\r" in text or _FIRST.match(text) is None or not (text.isascii() or _OTHER_ENDS.search(text) is None):
        return {}
    starts = [match.start() for match in _START.finditer(f"\n{text}")]
    if len(starts) != len(fields):
        return {}
    before = accumulate(text.count("\n", start, end) for start, end in pairwise((0, *starts)))
    return dict(zip(fields, zip(starts, [*starts[1:], len(text)], before, strict=True), strict=True))


_FIRST = regex(r"(?: *(?:#.*)?\n)*[A-Za-z]")
"""Empty lines and comments, and the start of a plain key."""
_START = regex(r"\n(?![ #\n]|-[ \n]|\Z)")
"""The end of a line, unless the next one is empty, indented, a comment or an item of a list."""
_OTHER_ENDS = regex("[\x85\u2028\u2029]")
"""Other ends of lines for libyaml, besides a carriage return."""
