"""Manifests that anybody wrote, read as `kubectl`, Argo CD and Flux read them: streams of YAML 1.1, or JSON.

A scalar is what `sigs.k8s.io/yaml` makes of it, and not what YAML 1.2 says: `yes` is true, `010` is 8, `1e3` a
number, a date is text. Built from libyaml's events and not from its nodes, which would crash on deep nesting; what
aliases make of a few lines is counted as if it were written out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from yaml.cyaml import CParser, CSafeLoader  # type: ignore[attr-defined] # the stubs import it without saying so
from yaml.error import MarkedYAMLError, YAMLError
from yaml.nodes import MappingNode, SequenceNode
from yaml.reader import ReaderError

from gen.diagnostics import Location
from gen.load.builder import MAX_DEPTH, Builder, extent
from gen.load.fast import fast
from gen.load.refused import Refused
from gen.load.scalars import resolved

if TYPE_CHECKING:
    from gen.diagnostics import Findings, Route

MAX_BYTES = 16 << 20
_LARGEST_PLACED = 2 << 20
"""Characters of a document in which places are looked up."""


@dataclass(frozen=True)
class Manifests:
    """The documents of one file. Where something stands is only looked up when it is asked for."""

    file: str
    text: str
    documents: tuple[Any, ...]
    begins: tuple[tuple[int, int], ...] = ((0, 0),)
    """Of each document: where its text begins, and its line, both counted from 0."""

    def place(self, document: int, route: Route, *, key: bool = False) -> Location:
        """Where the value at a route stands, or its key, or the nearest thing around it that is there.

        Of a document of more than 2 MiB only its beginning: its nodes would take hundreds.
        """
        line = self.begins[document][1]
        node = self._root(document)
        if node is None:
            return Location(self.file, line + 1)
        mark = named = node.start_mark
        for step in route:
            node, named = _inner(node, step)
            if node is None:
                break
            # nothing stands where an empty value is, and that may be the next line
            mark = named if key or (node.value == "" and node.start_mark == node.end_mark) else node.start_mark
        return Location(self.file, line + mark.line + 1, mark.column + 1)

    def _root(self, document: int) -> Any:
        """The nodes of one document, of which only the last that was asked for is kept: they take much memory."""
        if document not in self._composed:
            self._composed.clear()
            self._composed[document] = self._compose(document)
        return self._composed[document]

    def _compose(self, document: int) -> Any:
        begin = self.begins[document][0]
        end = self.begins[document + 1][0] if document + 1 < len(self.begins) else len(self.text)
        if end - begin > _LARGEST_PLACED:
            return None
        loader = CSafeLoader(self.text[begin:end])
        try:
            return loader.get_node() if loader.check_node() else None
        except YAMLError:  # JSON that is no YAML
            return None

    @cached_property
    def _composed(self) -> dict[int, Any]:
        return {}


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
    if (sure := fast(text)) is not None:
        return Manifests(file, text, (sure,))
    try:
        builder = Builder(CParser(text), file, found)
        return Manifests(file, text, tuple(builder.documents()), tuple(builder.begins))
    except Refused as problem:
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
        if extent(value, {})[1] > MAX_DEPTH:
            return None
        whole = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")  # halves of pairs become marks
        return json.loads(whole, parse_int=resolved)
    except (ValueError, RecursionError):
        return None


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no number that JSON has")


def _at(file: str, mark: Any) -> Location:
    return Location(file, mark.line + 1, mark.column + 1) if mark is not None else Location(file)
