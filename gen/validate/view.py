"""An object as rules look at it: without nulls, with its pod templates found once, and who will judge it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gen.diagnostics import Route
    from gen.kubernetes import Body

    Empty = Callable[[Route], Any]

_DEPTH = 9
"""How deep below `spec` a template can lie: a training runtime holds that of a job set, which holds jobs'."""

_PARTIAL = {"runtimePatches", "podTemplateOverrides", "trialTemplate"}
"""Fields that hold parts of templates, or templates with places to fill in, which nobody takes for whole ones."""


@dataclass(frozen=True, slots=True)
class View:
    """An object that fits its schema."""

    body: Body
    """A field that is null is not there, as the server takes it."""
    written: Body
    """As it is rendered."""
    minor: int
    """34 for Kubernetes 1.34, because some rules came and went."""
    templates: tuple[tuple[Route, Body], ...]
    """Each pod template with the route to it."""
    defined: bool = False
    """Whether the schema came from the definition itself, so that it says what rules say beside our own schemas."""

    @classmethod
    def of(cls, body: Body, version: str, *, defined: bool = False, empty: Empty = lambda _: "") -> View:
        """`empty` says what a null entry of the list at a route stands for."""
        present: Body = _without_nulls(body, (), empty) if _may_have_nulls(body) else body
        return cls(present, body, int(version.split(".")[1]), tuple(_all_templates(present)), defined)

    @classmethod
    def built(cls, body: Body) -> View:
        """Of an object without nulls, for rules that are the same for all versions of Kubernetes."""
        return cls(body, body, 0, tuple(_all_templates(body)))

    @property
    def kind(self) -> str:
        kind: str = self.body["kind"]
        return kind

    @property
    def group(self) -> str:
        """Empty for the core group."""
        group: str = self.body["apiVersion"].rpartition("/")[0]
        return group

    @property
    def metadata(self) -> Body:
        metadata: Body = self.body.get("metadata") or {}
        return metadata

    @property
    def spec(self) -> Body:
        spec = self.body.get("spec")
        return spec if isinstance(spec, dict) else {}

    @property
    def is_custom(self) -> bool:
        """Whether an operator makes the pods: only then does the server see them."""
        return is_custom(self.group)

    def pods(self) -> Iterator[tuple[Route, Body]]:
        """The `spec` of every pod template."""
        for route, template in self.templates:
            yield (*route, "spec"), template["spec"]

    def containers(self) -> Iterator[tuple[Route, Body]]:
        """Every container and init container."""
        for route, pod in self.pods():
            yield from containers(pod, route)


def is_custom(group: str) -> bool:
    """Whether a group of kinds comes with an operator, and not with Kubernetes."""
    return "." in group and not (group.endswith(".k8s.io") and ".x-k8s.io" not in f".{group}")


def containers(pod: Body, route: Route) -> Iterator[tuple[Route, Body]]:
    """Every container and init container of a pod's `spec`."""
    for field in ("initContainers", "containers"):
        for index, container in enumerate(pod.get(field) or ()):
            yield (*route, field, index), container


def _all_templates(body: Body) -> Iterator[tuple[Route, Body]]:
    kind = body["kind"]
    if kind == "Pod" and body["apiVersion"] == "v1":
        if "spec" in body:
            yield (), body
    elif kind == "PodTemplate":
        yield from _templates({"template": body.get("template")}, ())
    else:
        yield from _templates(body.get("spec"), ("spec",))


def _templates(value: Any, route: Route) -> Iterator[tuple[Route, Body]]:
    if not isinstance(value, dict | list) or len(route) > _DEPTH:
        return
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _templates(inner, (*route, index))
        return
    for key, inner in value.items():
        if key.lower().endswith("template") and _is_template(inner):
            yield (*route, key), inner
        elif key not in _PARTIAL:
            yield from _templates(inner, (*route, key))


def _is_template(value: Any) -> bool:
    spec = value.get("spec") if isinstance(value, dict) else None
    return isinstance(spec, dict) and isinstance(spec.get("containers"), list)


def _may_have_nulls(body: Body) -> bool:
    """Asked of compiled code, because most objects have none and need no copy."""
    try:
        return b"null" in orjson.dumps(body)
    except TypeError:  # a number or a text that orjson does not know
        return True


def _without_nulls(value: Any, route: Route, empty: Empty) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(inner, (*route, key), empty) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [
            empty(route) if inner is None else _without_nulls(inner, (*route, index), empty)
            for index, inner in enumerate(value)
        ]
    return value
