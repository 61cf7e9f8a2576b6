"""An object as rules look at it: without nulls, with its pod templates found once, and who will judge it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Route
    from gen.kubernetes import Body

_DEPTH = 4
"""How deep below `spec` the template of a training resource can lie: replica map, role, `template`."""


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

    @classmethod
    def of(cls, body: Body, version: str) -> View:
        present: Body = _without_nulls(body)
        return cls(present, body, int(version.split(".")[1]), tuple(_templates(present.get("spec"), ("spec",))))

    @property
    def kind(self) -> str:
        kind: str = self.body["kind"]
        return kind

    @property
    def spec(self) -> Body:
        spec: Body = self.body.get("spec") or {}
        return spec

    @property
    def is_custom(self) -> bool:
        """Whether an operator makes the pods: only then does the server see them."""
        group = self.body["apiVersion"].rpartition("/")[0]
        return "." in group and not group.endswith(".k8s.io")

    def pods(self) -> Iterator[tuple[Route, Body]]:
        """The `spec` of every pod template."""
        for route, template in self.templates:
            yield (*route, "spec"), template["spec"]

    def containers(self) -> Iterator[tuple[Route, Body]]:
        """Every container and init container."""
        for route, pod in self.pods():
            yield from containers(pod, route)


def containers(pod: Body, route: Route) -> Iterator[tuple[Route, Body]]:
    """Every container and init container of a pod's `spec`."""
    for field in ("initContainers", "containers"):
        for index, container in enumerate(pod.get(field) or ()):
            yield (*route, field, index), container


def _templates(value: Any, route: Route) -> Iterator[tuple[Route, Body]]:
    if not isinstance(value, dict) or len(route) > _DEPTH:
        return
    for key, inner in value.items():
        if key == "template" and isinstance(inner, dict) and "containers" in inner.get("spec", {}):
            yield (*route, key), inner
        else:
            yield from _templates(inner, (*route, key))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return ["" if inner is None else _without_nulls(inner) for inner in value]
    return value
