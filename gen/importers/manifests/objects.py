"""Objects in files, lists and documents, without additions of a cluster or a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gen.load.manifests import read_manifests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Findings, Location, Route
    from gen.importers.base import Given
    from gen.kubernetes import Body
    from gen.load.manifests import Manifests

MAX_DEPTH: Final = 8
"""Lists in lists, which no cluster returns."""

_METADATA: Final = frozenset(
    {"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "finalizers", "generateName", "generation"}
    | {"managedFields", "ownerReferences", "resourceVersion", "selfLink", "uid"}
)
_ADDED_KEYS: Final = frozenset({"controller-uid", "job-name", "batch.kubernetes.io/job-name"})
_ADDED_PREFIXES: Final = (
    *("kubectl.kubernetes.io/", "deployment.kubernetes.io/", "batch.kubernetes.io/", "pv.kubernetes.io/"),
    *("training.kubeflow.org/", "volume.kubernetes.io/", "volume.beta.kubernetes.io/", "field.cattle.io/"),
)
"""Starts of labels and annotations that controllers and `kubectl` set."""


class Item(Struct, frozen=True, kw_only=True):
    """One object, with the places of its values."""

    body: Body
    manifests: Manifests
    document: int
    at: Route
    """Route in the document, which may be a list of objects."""

    def place(self, *route: str | int) -> Location:
        return self.manifests.place(self.document, (*self.at, *route))

    @property
    def name(self) -> str:
        """The name. Objects with a generated name have only its start."""
        metadata = self.body["metadata"]
        name = metadata.get("name") or str(metadata.get("generateName") or "").rstrip("-.")
        return name if isinstance(name, str) else ""

    @property
    def namespace(self) -> str:
        namespace = self.body["metadata"].get("namespace")
        return namespace if isinstance(namespace, str) else ""


def items(given: Given, found: Findings) -> list[Item]:
    """All objects of all files. Other documents are left out: they are no objects."""
    read = (read_manifests(raw, file, found) for file, raw in given.files)
    return [
        Item(body=body, manifests=one, document=number, at=route)
        for one in read
        if one is not None
        for number, document in enumerate(one.documents)
        for route, body in _objects(document, (), MAX_DEPTH)
    ]


def _objects(value: Any, route: Route, depth: int) -> Iterator[tuple[Route, Body]]:
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        return
    inner = value.get("items")
    if isinstance(inner, list) and value["kind"].endswith("List") and "spec" not in value:
        for number, one in enumerate(inner if depth else ()):
            yield from _objects(one, (*route, "items", number), depth - 1)
    elif isinstance(value.get("metadata"), dict) and isinstance(value.get("apiVersion"), str):
        yield route, value


def cleaned(body: Body) -> Body:
    """An object without its status and without metadata of the cluster, also in its pod templates."""
    kept = {key: _cleaned(value) for key, value in body.items() if key != "status" and value is not None}
    kept["metadata"] = {key: value for key, value in kept["metadata"].items() if key not in _METADATA}
    return kept


def _cleaned(value: Any) -> Any:
    """Without nulls and empty values, which mean the same as missing ones."""
    if isinstance(value, list):
        return [_cleaned(one) for one in value]
    if not isinstance(value, dict):
        return value
    inner = {str(key): _cleaned(one) for key, one in value.items()}
    for field in ("labels", "annotations"):
        if isinstance(inner.get(field), dict):
            inner[field] = {key: text for key, text in inner[field].items() if not _is_added(key)}
    return {key: one for key, one in inner.items() if one is not None and one not in ({}, [])}


def _is_added(key: str) -> bool:
    return key in _ADDED_KEYS or key.startswith(_ADDED_PREFIXES)
