"""One object of a rendered tree: its identity, and its content when it is needed.

Files in a tree may have been written by anyone, so no form is assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gen.base import Findings, Location, at, regex
from gen.base.codes.rendered import NOT_A_MANIFEST
from gen.base.engines import is_stopped
from gen.base.labels import JOB_LABEL, RUN_LABEL, STOPPED, VALUES
from gen.base.parallel import map_parallel
from gen.base.repository.layout import RenderedPath
from gen.base.yaml.source import source_of
from gen.base.yaml.strict import parse, typed
from gen.kubernetes.facts import builtin as core
from gen.kubernetes.facts import resource_of
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.objects import Body, identity
from gen.render.emit import HEADER, untouched

DATA = frozenset(resource.kind for resource in core.DATA)

_HEAD = regex(
    r"apiVersion: (?:(?P<group>[a-z0-9.-]+)/)?v[a-z0-9]+\nkind: (?P<kind>\w+)\nmetadata:\n"
    r"  name: (?P<name>[a-z][a-z0-9.-]*)\n(?:  namespace: (?P<namespace>[a-z][a-z0-9-]*)\n)?"
)
"""Start of a generated file. Files with another start are parsed."""


@dataclass(frozen=True, slots=True, order=True)
class ObjectKey:
    """The identity of an object. Two files with the same key define the same object."""

    scope: str
    """The overlay; `argocd/<overlay>` or `flux/<overlay>` for objects that configure an engine."""
    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        """`Kind namespace/name`."""
        return identity(self.kind, self.namespace, self.name)


@dataclass(frozen=True, eq=False)
class RenderedObject:
    """An object in a file, compared by identity. Unchanged files are parsed only when their content is needed."""

    key: ObjectKey
    path: str
    text: str
    parsed: Body | None = None

    @cached_property
    def body(self) -> Body:
        return content(self.text) if self.parsed is None else self.parsed

    @property
    def metadata(self) -> Any:
        return self.body.get("metadata")

    def may_have(self, key: str) -> bool:
        """Whether it can have a label or annotation, without parsing the text that gen wrote."""
        return self.parsed is not None or key in self.text

    def label(self, key: str) -> str:
        """The value of a label, or an empty string."""
        value = at(self.metadata, "labels", key)
        return "" if value is None else str(value)

    @property
    def run(self) -> str:
        """The hash of the run that it belongs to, or an empty string."""
        return self.label(RUN_LABEL)

    @property
    def values(self) -> str:
        """The values of a run of a sweep, as JSON; empty for other objects."""
        return str(at(self.metadata, "annotations", VALUES) or "")

    @property
    def is_stopped(self) -> bool:
        """Whether it is the record of an object that the engines delete from the cluster."""
        return STOPPED in self.text and is_stopped(self.metadata)

    @property
    def job(self) -> str:
        """The job that it belongs to, or its own name."""
        return self.label(JOB_LABEL) or self.key.name


def generated_object(raw: bytes, path: str) -> RenderedObject | None:
    """The object of a generated file without edits, identified by its first lines; None for all other files."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    header = HEADER.match(text)
    head = _HEAD.match(text, header.end()) if header else None
    if head is None or not untouched(text):
        return None
    scope = RenderedPath.parse(path).scope
    key = ObjectKey(scope, head["group"] or "", head["kind"], head["namespace"] or "", head["name"])
    return RenderedObject(key, path, text)


def parse_object(raw: bytes, path: str, found: Findings) -> RenderedObject | None:
    """The object of any file. Reports manifests without a single object; engines ignore files with other endings."""
    here = Location(path)
    hint = "move it out of `rendered/`"
    if not path.endswith((".yaml", ".yml", ".json")):
        return None
    source = source_of(raw, path, found)
    if source is None:
        return None
    body: Any = typed(source.data)
    kind, version, name = at(body, "kind"), at(body, "apiVersion"), at(body, "metadata", "name")
    if not kind or not version or not name or "items" in body:
        message = "not a single Kubernetes object with `apiVersion`, `kind` and `metadata.name`"
        found.error(NOT_A_MANIFEST, here, message, hint)
        return None
    group, namespace = str(version).rpartition("/")[0], str(at(body, "metadata", "namespace") or "")
    key = ObjectKey(RenderedPath.parse(path).scope, group, str(kind), namespace, str(name))
    return RenderedObject(key, path, source.text, parsed=body)


_OBJECTS_PER_PROCESS = 400
"""Starting a process takes as long as parsing about this many objects."""


def parse_together(objects: Iterable[RenderedObject], parallel: int) -> None:
    """Parse objects in several processes before their content is needed."""
    unread = [one for one in objects if one.parsed is None]
    bodies = map_parallel(_bodies, unread, parallel, worth_it=_OBJECTS_PER_PROCESS)
    for one, body in zip(unread, bodies, strict=True):
        if body is not None:
            one.__dict__["body"] = body  # where the cached property has it


def _bodies(objects: Sequence[RenderedObject], done: Callable[[int], None]) -> list[Body | None]:
    """None for an object that fails, which fails again where it is used."""
    bodies: list[Body | None] = []
    for one in objects:
        try:
            bodies.append(content(one.text))
        except Exception:  # noqa: BLE001 - see `gen.base.findings`
            bodies.append(None)
    done(len(bodies))
    return bodies


def content(text: str) -> Body:
    """The object in a text; empty if it is not valid YAML."""
    body = typed(parse(text, "", Findings()) or {})
    return body if isinstance(body, dict) else {}


def workload(one: RenderedObject) -> Resource | None:
    """Facts of the kind if the object is a run, or a schedule or definition of runs, otherwise None."""
    resource = resource_of(one.key.group, one.key.kind)
    return resource if resource is not None and resource.is_workload else None
