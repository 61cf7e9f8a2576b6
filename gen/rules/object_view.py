"""An object prepared for rules: without null fields, with its pod templates."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson
from msgspec import Struct

from gen.resources import RESOURCES, resource_of_object
from gen.resources.engines import is_finished
from gen.resources.pods import is_template, matches, templates_by_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gen.diagnostics import Route
    from gen.kubernetes import Body

    Empty = Callable[[Route], Any]

_NULLS = (b":null", b",null", b"[null")
"""A null in JSON. A string can contain one of these, too, but rarely; `null` alone is part of many scripts."""
_CONTAINERS = b'"containers":['
"""In the JSON of every object with a pod template."""
_TEMPLATE = ("template", "Template")
_PARTIAL = frozenset(field for resource in RESOURCES.values() for field in resource.partial_templates)
"""Fields with partial pod templates, or with templates that contain placeholders."""


def dropped(route: Route) -> Any:
    """The replacement for a null at a route: an empty string for entries of lists, None for fields."""
    return "" if isinstance(route[-1], int) else None


class ObjectView(Struct, frozen=True, dict=True, kw_only=True):
    """An object that matches its schema, with values that many rules need."""

    body: Body
    """Without null fields, which the server treats as unset."""
    written: Body
    """As it was rendered or read."""
    minor: int
    """34 for Kubernetes 1.34. Some rules are for some versions only."""
    kind: str
    group: str
    """Empty for the core group."""
    is_custom: bool
    """Whether an operator creates the pods: the API server only checks them then."""
    metadata: Body
    spec: Body
    templates: tuple[tuple[Route, Body], ...]
    """Each pod template with its route."""
    pods: tuple[tuple[Route, Body], ...]
    """The `spec` of every pod template."""
    defined: bool
    """Whether the schema is the one of a CustomResourceDefinition, which already has some of the checks."""
    namespaced: bool
    """False only if the kind is known to be cluster-scoped."""
    json: bytes | None
    """`body` serialized by orjson, if it was needed."""

    @classmethod
    def of(
        cls, body: Body, version: str, *, defined: bool = False, namespaced: bool = True, empty: Empty = dropped
    ) -> ObjectView:
        """`empty` returns the replacement for a null at a route, and None for a null that is dropped."""
        json = _json(body)
        if json is None or (b"null" in json and any(null in json for null in _NULLS)):  # most objects need no copy
            present: Body = _without_nulls(body, (), empty)
            json = None
        else:
            present = body
        minor = int(version.split(".")[1])
        return cls._made(present, body, minor, defined=defined, namespaced=namespaced, json=json)

    @classmethod
    def built(cls, body: Body) -> ObjectView:
        """A view of an object without nulls, for rules that are the same in all versions of Kubernetes."""
        return cls._made(body, body, 0)

    @classmethod
    def _made(
        cls,
        body: Body,
        written: Body,
        minor: int,
        *,
        defined: bool = False,
        namespaced: bool = True,
        json: bytes | None = None,
    ) -> ObjectView:
        group = body["apiVersion"].rpartition("/")[0]
        spec = body.get("spec")
        templates = _all_templates(body, json)
        return cls(
            body=body,
            written=written,
            minor=minor,
            kind=body["kind"],
            group=group,
            is_custom=is_custom(group),
            metadata=body.get("metadata") or {},
            spec=spec if isinstance(spec, dict) else {},
            templates=templates,
            pods=tuple([((*route, "spec"), template["spec"]) for route, template in templates]),
            defined=defined,
            namespaced=namespaced,
            json=json,
        )

    @cached_property
    def finished(self) -> bool:
        """Whether some engine must leave the object alone, as it does with a finished run."""
        return is_finished(self.metadata)

    @cached_property
    def containers(self) -> tuple[tuple[Route, Body], ...]:
        """Every container and init container."""
        return tuple([found for route, pod in self.pods for found in containers(pod, route)])


def is_custom(group: str) -> bool:
    """Whether kinds of this group are defined by an operator, not by Kubernetes."""
    return "." in group and not (group.endswith(".k8s.io") and ".x-k8s.io" not in f".{group}")


def containers(pod: Body, route: Route) -> Iterator[tuple[Route, Body]]:
    """Every container and init container of a pod's `spec`."""
    for field in ("initContainers", "containers"):
        for index, container in enumerate(pod.get(field) or ()):
            yield (*route, field, index), container


def _all_templates(body: Body, json: bytes | None) -> tuple[tuple[Route, Body], ...]:
    kind = body["kind"]
    if kind == "Pod" and body["apiVersion"] == "v1":
        return (((), body),) if "spec" in body else ()
    if json is not None and _CONTAINERS not in json:  # most objects without templates
        return ()
    resource = resource_of_object(body["apiVersion"], kind)
    if resource is not None and resource.pods:
        found = [one for pods in resource.pods for one in matches(body, pods.template)]
        return tuple([(route, template) for route, template in found if is_template(template)])
    shaped = templates_by_shape(body.get("spec"), ("spec",), _PARTIAL)
    return tuple((route, template) for route, template in shaped if str(route[-1]).endswith(_TEMPLATE))


def _json(body: Body) -> bytes | None:
    try:
        return orjson.dumps(body)
    except TypeError:  # a number or a string that orjson does not support
        return None


def _without_nulls(value: Any, route: Route, empty: Empty) -> Any:
    if isinstance(value, dict):
        present = {key: _present(inner, (*route, key), empty) for key, inner in value.items()}
        return {key: inner for key, inner in present.items() if inner is not None}
    if isinstance(value, list):
        return [_present(inner, (*route, index), empty) for index, inner in enumerate(value)]
    return value


def _present(value: Any, route: Route, empty: Empty) -> Any:
    return empty(route) if value is None else _without_nulls(value, route, empty)
