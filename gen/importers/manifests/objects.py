"""Objects in the input of an import, and the pod templates of a run, each with its role."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, Final

from msgspec import Struct

from gen.base import Findings, Location, Route, as_mapping, at, follow, get
from gen.importers import ImportInput
from gen.kubernetes.facts.base import ANY_ITEM, ANY_KEY, Pattern, PodSet, Resource, Wildcard
from gen.kubernetes.facts.pods import matches
from gen.kubernetes.manifests.read import Manifests, read_manifests
from gen.kubernetes.objects import Body

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


def items(given: ImportInput, found: Findings) -> list[Item]:
    """All objects of all files. Other documents are ignored."""
    read = (read_manifests(raw, file, found) for file, raw in given.files)
    return [
        Item(body=body, manifests=one, document=number, at=route)
        for one in read
        if one is not None
        for number, document in enumerate(one.documents)
        for route, body in _objects(document, (), MAX_DEPTH)
    ]


def _objects(value: object, route: Route, depth: int) -> Iterator[tuple[Route, Body]]:
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


class Template(Struct, frozen=True, kw_only=True):
    """The pods of one role."""

    role: str
    route: Route
    """Route of the template."""
    pods: PodSet | None
    metadata: Body
    spec: Body
    """Empty if it is not a mapping."""
    container: Body
    """The training container."""
    replicas: int
    restart: str | None

    @property
    def steps(self) -> tuple[str | int, ...]:
        """Values of the wildcards of its route."""
        pattern = self.pods.template if self.pods is not None else ()
        return tuple(step for step, part in zip(self.route, pattern, strict=False) if isinstance(part, Wildcard))


def templates(facts: Resource, body: Body) -> list[Template]:
    """All pods of an object. If those of the kind are in the cluster, one with the fields of the object."""
    if facts.nodes is not None:
        return [_of_nodes(facts, body)]
    return [
        _template(facts, body, pods, route)
        for pods in facts.pods
        for route, template in matches(body, pods.template)
        if isinstance(template, dict)
    ]


def _of_nodes(facts: Resource, body: Body) -> Template:
    nodes = facts.nodes
    assert nodes is not None  # the caller has tested it
    holder = follow(body, nodes.count[:-1])
    container = dict(holder) if isinstance(holder, dict) else {}
    resources = follow(body, nodes.resources)
    container["resources"] = resources if isinstance(resources, dict) else {}
    return Template(
        role="node",
        route=nodes.count[:-1],
        pods=None,
        metadata={},
        spec={},
        container=container,
        replicas=_number(follow(body, nodes.count), 1),
        restart=None,
    )


def _template(facts: Resource, body: Body, pods: PodSet, route: Route) -> Template:
    template = follow(body, route)
    spec = as_mapping(at(template, "spec"))
    numbers = (_number(follow(body, beside(count.route, pods, route)), count.default) for count in pods.counts)
    holder = follow(body, route[:-1])
    restart = at(holder, "restartPolicy") if facts.restarts_by_role else spec.get("restartPolicy")
    return Template(
        role=_role(body, pods, route),
        route=route,
        pods=pods,
        metadata=as_mapping(at(template, "metadata")),
        spec=spec,
        container=as_mapping(spec["containers"][main_index(spec, facts.container)]) if _containers(spec) else {},
        replicas=prod(numbers),
        restart=restart if isinstance(restart, str) else None,
    )


def beside(pattern: Pattern, pods: PodSet, route: Route) -> Route:
    """A route with the same wildcards as a template; they are replaced by the steps of the template's route."""
    steps = iter([step for step, part in zip(route, pods.template, strict=False) if isinstance(part, Wildcard)])
    return tuple(next(steps, "") if isinstance(part, Wildcard) else part for part in pattern)


def _role(body: Body, pods: PodSet, route: Route) -> str:
    for index in reversed(range(len(pods.template))):
        if pods.template[index] is ANY_KEY:
            return str(route[index]).lower()
        if pods.template[index] is ANY_ITEM:
            name = get(follow(body, route[: index + 1]), pods.item_name)
            return name if isinstance(name, str) else pods.role
    return pods.role


def main_index(spec: Body, wanted: str | None) -> int:
    """Index of the training container: the one that the operator looks for, or the first."""
    names = [at(one, "name") for one in _containers(spec)]
    return names.index(wanted) if wanted in names else 0


def _containers(spec: Body) -> list[object]:
    found = spec.get("containers")
    return found if isinstance(found, list) else []


def _number(value: object, default: int) -> int:
    return int(value) if isinstance(value, int | str) and str(value).isdecimal() and len(str(value)) < 10 else default  # noqa: PLR2004 - not a number of pods
