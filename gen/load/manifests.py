"""Manifests of any origin, read as `kubectl`, Argo CD and Flux read them: streams of YAML 1.1, or JSON.

Scalars follow `sigs.k8s.io/yaml` and not YAML 1.2: `yes` is true, `010` is 8, `1e3` is a number, a date is text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from yaml.cyaml import CParser  # type: ignore[attr-defined] # the stubs import it without saying so
from yaml.error import MarkedYAMLError, YAMLError
from yaml.nodes import MappingNode, ScalarNode, SequenceNode
from yaml.reader import ReaderError

from gen.diagnostics import Location
from gen.findings.files import INVALID_YAML, NOT_UTF_8, TOO_LARGE
from gen.load.compiled import read_compiled
from gen.load.events import Refused, read_events
from gen.load.go_yaml import as_kubectl
from gen.load.manifest_policy import ManifestPolicy, extent
from gen.load.nodes import NodeLoader
from gen.load.yaml11 import resolved
from gen.load.yaml_errors import explained, location

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Findings, Route

_Entries = dict[str | int, tuple[Any, Any]]
MAX_BYTES = 16 << 20
MAX_PLACED = 2 << 20
"""Largest document, in characters, in which places are looked up."""


@dataclass(frozen=True)
class Manifests:
    """The documents of one file. Places are looked up only when a finding needs one."""

    file: str
    text: str
    documents: tuple[Any, ...]
    begins: tuple[tuple[int, int], ...] = ((0, 0),)
    """For each document: the offset of its text, and its line, both counted from 0."""

    def place(self, document: int, route: Route, *, key: bool = False) -> Location:
        """The place of the value at a route, or of its key; else of the nearest value around it.

        For a document of more than 2 MiB, its start: the nodes would take hundreds of MiB.
        """
        line = self.begins[document][1]
        node = self._root(document)
        if node is None:
            return Location(self.file, line + 1)
        mark = named = node.start_mark
        for step in route:
            node, named = self._inner(node, step)
            if node is None:
                break
            # an empty value has no text, and its mark may be on the next line
            mark = named if key or (node.value == "" and node.start_mark == node.end_mark) else node.start_mark
        return Location(self.file, line + mark.line + 1, mark.column + 1)

    def _inner(self, node: Any, step: str | int) -> tuple[Any, Any]:
        """The value at a step, and the mark of its key."""
        if isinstance(node, MappingNode):
            return self._entries(node).get(step, (None, None))
        if isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
            return node.value[step], node.value[step].start_mark
        return None, None

    def _entries(self, node: MappingNode) -> _Entries:
        """The values of a mapping and the marks of their keys, by key. A mapping can have a finding for each key."""
        if id(node) not in self._indexed:
            entries = self._indexed[id(node)] = {}
            for mapping in _with_merged(node):
                for name, value in reversed(mapping.value):
                    if isinstance(name, ScalarNode):
                        for key in (name.value, str(resolved(name.value))):
                            entries.setdefault(key, (value, name.start_mark))
        return self._indexed[id(node)]

    def _root(self, document: int) -> Any:
        """The nodes of one document. Only the last is kept, because nodes take much memory."""
        if document not in self._composed:
            self._composed.clear()
            self._indexed.clear()
            self._composed[document] = self._compose(document)
        return self._composed[document]

    def _compose(self, document: int) -> Any:
        begin = self.begins[document][0]
        end = self.begins[document + 1][0] if document + 1 < len(self.begins) else len(self.text)
        if end - begin > MAX_PLACED:
            return None
        loader = NodeLoader(self.text[begin:end])
        try:
            return loader.get_node() if loader.check_node() else None
        except YAMLError:  # JSON that is not YAML
            return None

    @cached_property
    def _composed(self) -> dict[int, Any]:
        return {}

    @cached_property
    def _indexed(self) -> dict[int, _Entries]:
        """The entries of mappings of the composed document, by identity."""
        return {}


def _with_merged(node: MappingNode) -> Iterator[MappingNode]:
    """The mapping, and those that `<<` merges into it, each once: aliases may repeat them exponentially."""
    todo, seen = [node], {id(node)}
    while todo:
        mapping = todo.pop()
        yield mapping
        for value in (value for name, value in reversed(mapping.value) if name.value == "<<"):
            for one in reversed(value.value if isinstance(value, SequenceNode) else [value]):
                if isinstance(one, MappingNode) and id(one) not in seen:
                    seen.add(id(one))
                    todo.append(one)


def objects_in(document: Any) -> Iterator[tuple[Route, Any]]:
    """The objects of a document, of any type: itself, or the items of a list of any kind."""
    items = document.get("items") if isinstance(document, dict) else None
    if isinstance(items, list) and str(document.get("kind", "")).endswith("List"):
        yield from ((("items", index), item) for index, item in enumerate(items))
    else:
        yield (), document


def read_manifests(raw: bytes, file: str, found: Findings) -> Manifests | None:
    """Every document in a file; None, with a finding, if it is unreadable."""
    if len(raw) > MAX_BYTES:
        found.error(TOO_LARGE, Location(file), f"file is larger than {MAX_BYTES >> 20} MiB", "split it")
        return None
    try:
        text = raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        place = Location(file, line, error.start - raw.rfind(b"\n", 0, error.start))
        found.error(NOT_UTF_8, place, "file is not UTF-8", "save it as UTF-8")
        return None
    if (document := read_compiled(text)) is not None:
        return Manifests(file, text, (document,))
    try:
        text = as_kubectl(text, file, found)
        stream = read_events(CParser(text), ManifestPolicy(file, found, text))
        read = [(mark, document) for mark, document in stream if document is not None]
    except Refused as problem:
        found.error(problem.code, location(file, problem.mark), problem.message, problem.hint)
    except MarkedYAMLError as error:
        as_json = _json(text)
        if as_json is not None:
            return Manifests(file, text, (as_json,))
        wrong = explained(error, text)
        found.error(INVALID_YAML, wrong.location(file), wrong.message, wrong.hint)
    except ReaderError as error:
        before = text[: error.position] if isinstance(error.position, int) else ""
        place = Location(file, before.count("\n") + 1, len(before) - before.rfind("\n"))
        found.error(INVALID_YAML, place, f"invalid YAML: {error.reason}", "remove the character")
    except YAMLError as error:  # pragma: no cover - libyaml gives a mark for every error it knows
        found.error(INVALID_YAML, Location(file), f"invalid YAML: {error}", "check the encoding of the file")
    else:
        begins = tuple((mark.index - mark.column, mark.line) for mark, _ in read)
        return Manifests(file, text, tuple(document for _, document in read), begins)
    return None


def _json(text: str) -> Any | None:
    """JSON that YAML parsers refuse: with tabs as indentation, or halves of surrogate pairs."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = json.loads(text, parse_int=resolved, parse_constant=_refuse)
        if extent(value, {})[1] > ManifestPolicy.max_depth:
            return None
        whole = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")  # halves of pairs become `?`
        return json.loads(whole, parse_int=resolved)
    except (ValueError, RecursionError):
        return None


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not a valid JSON number")
