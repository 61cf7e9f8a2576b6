"""Values from several files: merging the files, and finding the file that set a value."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from gen.base.findings import Location, Route
from gen.base.lazy import regex
from gen.base.yaml.strict import Data

if TYPE_CHECKING:
    from gen.base.yaml.source import FoundRoute, Source


class Layer(Struct, frozen=True):
    """The part of `source` below `prefix`."""

    source: Source
    prefix: Route = ()

    def find(self, route: Route) -> FoundRoute:
        found = self.source.find(self.prefix + route)
        return replace(found, steps=found.steps - len(self.prefix)) if self.prefix else found


class Layers(Struct, frozen=True):
    """Files merged with each other, the one with the highest precedence first."""

    layers: tuple[Layer, ...]
    moved: Mapping[Route, Route] = {}
    """Where the files have values that the merged fields have at other routes."""

    def _in_files(self, route: Route) -> Route:
        for length in range(len(route), 0, -1) if self.moved else ():
            if (start := self.moved.get(route[:length])) is not None:
                return (*start, *route[length:])
        return route

    def place(self, route: Route, *, key: bool = False) -> Location:
        """The place in the file that set the value at `route`; without one, in the file with most of the route."""
        route = self._in_files(route)
        best: FoundRoute | None = None
        deciding = min(len(route), _entry_depth(route))
        for layer in self.layers:
            one = layer.find(route)
            if one.steps >= deciding or (one.steps > 0 and one.ends):
                best = one
                break
            best = one if best is None or one.steps > best.steps else best
        assert best is not None  # a job has at least its own file
        return best.key if key else best.value

    def written(self, route: Route) -> Route | None:
        """The route of a value in the file that has it, which is the one of its place; None if no file has it."""
        route = self._in_files(route)
        for layer in self.layers:
            if layer.find(route).steps == len(route):
                return (*layer.prefix, *route)
        return None

    def place_of(self, route: Route, part: str) -> Location:
        """The place of `part`, which has no line break, in the text at `route`; of the text if it is escaped."""
        start = self.place(route)
        source = next(layer.source for layer in self.layers if layer.source.file == start.file)
        lines = _lines(source.text)[start.line - 1 :]
        for index, line in enumerate(lines):
            column = line.find(part, start.column - 1 if index == 0 else 0)
            if column >= 0:
                return Location(start.file, start.line + index, column + 1)
        return start

    def place_inside(self, route: Route, inner: Location, word: str) -> Location:
        """The place of a word in the text at `route`, which `inner` gives as a line and a column of the text."""
        start = self.place(route)
        source = next(layer.source for layer in self.layers if layer.source.file == start.file)
        lines = _lines(source.text)
        first = lines[start.line - 1][start.column - 1 :]
        block = first[:1] in ("|", ">")
        if block and first[0] == "|":
            below = (lines[number] for number in range(start.line, len(lines)))
            indent = next((match.end() for line in below if (match := _INDENT.match(line)) is not None), 0)
            at = start.line + inner.line - 1
            line = lines[at] if at < len(lines) else ""
            column = line.find(word) if "{{" in line else indent + inner.column - 1
            return Location(start.file, start.line + inner.line, max(column, indent) + 1)
        column = start.column - 1 + first.startswith(("'", '"')) + inner.column - 1
        if not block and lines[start.line - 1].startswith(word, column):
            return Location(start.file, start.line, column + 1)
        return self.place_of(route, word) if word else start


_LINE = regex("\r\n|[\r\n\x85\u2028\u2029]")
"""Line breaks as libyaml counts them."""
_INDENT = regex(r" *(?=\S)")


@lru_cache(maxsize=1)  # a command can have thousands of findings
def _lines(text: str) -> list[str]:
    return _LINE.split(text)


PARTS: Final = ("roles", "steps")
"""Fields of a job with its parts by name. A part has fields of a job."""
HOLDERS: Final = {**dict.fromkeys(PARTS, 2), "kinds": 2, "defaults": 1}
"""Fields that contain the fields of a job, in their entries or directly, with the length of the route to those."""
_ENTRYWISE = {"placement": 2, "namespaces": 2, "groups": 2}
"""Levels of mappings that are merged key by key below a field; 1 for other fields."""


def lay_over(base: Mapping[str, Data], top: Mapping[str, Data]) -> dict[str, Data]:
    """`top` over `base`: mappings of a field merge by key, an entry and a list are replaced as a whole.

    Entries are not merged any deeper, so `X: {secret: …}` over `X: {configMap: …}` does not give both. Values that
    contain the fields of a job, such as a role or the defaults of an overlay, are merged field by field.
    """
    merged = dict(base)
    for name, value in top.items():
        merged[name] = _field(name, base.get(name), value)
    return merged


def _field(name: str, base: Data | None, top: Data) -> Data:
    if name in HOLDERS and isinstance(base, dict) and isinstance(top, dict):
        if HOLDERS[name] == 1:
            return lay_over(base, top)
        return dict(base) | {key: _jobs_fields(base.get(key), value) for key, value in top.items()}
    return _merged(base, top, _ENTRYWISE.get(name, 1))


def _jobs_fields(base: Data | None, top: Data) -> Data:
    return lay_over(base, top) if isinstance(base, dict) and isinstance(top, dict) else top


def _merged(base: Data | None, top: Data, levels: int) -> Data:
    if levels == 0 or not isinstance(base, dict) or not isinstance(top, dict):
        return top
    return dict(base) | {key: _merged(base.get(key), value, levels - 1) for key, value in top.items()}


def _entry_depth(route: Route) -> int:
    """Length of the route to the value that is replaced as a whole."""
    name = str(route[0]) if route else ""
    if name in HOLDERS:
        return HOLDERS[name] + _entry_depth(route[HOLDERS[name] :])
    return 1 + _ENTRYWISE.get(name, 1)


def without(data: Mapping[str, Data], routes: Collection[Route]) -> dict[str, Data]:
    """The data without the entries that contain the routes: half an entry would mean something else."""
    entries: dict[str, set[str | int]] = {}
    whole = {str(route[0]) for route in routes if len(route) == 1 or not isinstance(data.get(str(route[0])), dict)}
    for route in routes:
        entries.setdefault(str(route[0]), set()).update(route[1:2])
    return {
        field: {key: inner for key, inner in value.items() if key not in entries[field]}
        if field in entries and isinstance(value, dict)
        else value
        for field, value in data.items()
        if field not in whole
    }
