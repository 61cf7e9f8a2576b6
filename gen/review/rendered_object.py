"""One object of a rendered tree: which one it is, and its content once somebody asks.

What lies in a tree may have been written by anybody, so nothing is taken for granted of its form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from gen.diagnostics import Findings, Location
from gen.kubernetes import JOB_LABEL, RUN_LABEL, Body, at
from gen.load.source import source_of
from gen.load.text import parse
from gen.load.typed import typed
from gen.render.emit import HEADER, untouched
from gen.repository.layout import RenderedPath

if TYPE_CHECKING:
    from typing import Any

DATA = frozenset({"PersistentVolume", "PersistentVolumeClaim"})

_HEAD = re.compile(
    r"apiVersion: (?:(?P<group>[a-z0-9.-]+)/)?v[a-z0-9]+\nkind: (?P<kind>\w+)\nmetadata:\n"
    r"  name: (?P<name>[a-z][a-z0-9.-]*)\n(?:  namespace: (?P<namespace>[a-z][a-z0-9-]*)\n)?"
)
"""How gen's files start; what does not start so is parsed."""


_BULK = re.compile(
    r"^( *)(?:args|command|env|ports|securityContext|tolerations|volumeMounts|volumes):\n(?:\1[ -].*\n|\n)+",
    re.MULTILINE,
)
"""Most of a pod, as gen writes it: the lines below are deeper, or entries of a list at the same depth."""


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """What makes two files one object."""

    scope: str
    """The overlay; `argocd/<overlay>` or `flux/<overlay>` for what the engines are told."""
    group: str
    kind: str
    namespace: str
    name: str

    @property
    def object(self) -> str:
        """`Kind namespace/name`."""
        return f"{self.kind} {self.namespace}/{self.name}".replace(" /", " ")


@dataclass(frozen=True, eq=False)
class Item:
    """An object in a file, equal to itself alone. Equal files are not parsed until somebody needs their content."""

    key: Key
    path: str
    text: str
    parsed: Body | None = None

    @cached_property
    def body(self) -> Body:
        return _data(self.text, Findings()) if self.parsed is None else self.parsed

    @cached_property
    def outline(self) -> Body:
        """The object, perhaps without what containers run and mount, which takes most of the time to parse."""
        found = Findings()
        outline = self.body if self.parsed is not None else _data(_BULK.sub("", self.text), found)
        return self.body if found.items else outline

    def label(self, key: str) -> str:
        """A label's value; empty when there is none."""
        value = at(self.outline, "metadata", "labels", key)
        return "" if value is None else str(value)

    def annotation(self, key: str) -> str:
        value = at(self.outline, "metadata", "annotations", key)
        return "" if value is None else str(value)

    @property
    def run(self) -> str:
        """The hash of the run that it belongs to, if any."""
        return self.label(RUN_LABEL)

    @property
    def job(self) -> str:
        return self.label(JOB_LABEL) or self.key.name


def known_item(raw: bytes, path: str) -> Item | None:
    """The object of a file that gen wrote and that nobody touched, from its first lines; None for all others."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    header = HEADER.match(text)
    head = _HEAD.match(text, header.end()) if header else None
    if head is None or not untouched(text):
        return None
    key = Key(RenderedPath.parse(path).scope, head["group"] or "", head["kind"], head["namespace"] or "", head["name"])
    return Item(key, path, text)


def parsed_item(raw: bytes, path: str, found: Findings) -> Item | None:
    """The object of any file; None, and a finding, when there is none in it."""
    here = Location(path)
    remedy = "move it out of rendered/; nobody can tell what it would do"
    if not path.endswith((".yaml", ".yml", ".json")):
        found.warning("not-a-manifest", here, "this is no manifest, and gen cannot read it", remedy)
        return None
    source = source_of(raw, path, found)
    if source is None:
        return None
    body: Any = typed(source.data)
    kind, version, name = at(body, "kind"), at(body, "apiVersion"), at(body, "metadata", "name")
    if not kind or not version or not name or "items" in body:
        found.error("not-a-manifest", here, "this is no single Kubernetes object, and gen cannot read it", remedy)
        return None
    group = str(version).rpartition("/")[0]
    key = Key(RenderedPath.parse(path).scope, group, str(kind), str(at(body, "metadata", "namespace") or ""), str(name))
    return Item(key, path, source.text, parsed=body)


def _data(text: str, found: Findings) -> Body:
    data = typed(parse(text, "", found) or {})
    return data if isinstance(data, dict) else {}
