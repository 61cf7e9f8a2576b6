"""An object with its pod templates found once, so that every rule need not search for them."""

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
    templates: tuple[tuple[Route, Body], ...]
    """Each pod template with the route to it."""

    @classmethod
    def of(cls, body: Body) -> View:
        return cls(body, tuple(_templates(body.get("spec"), ("spec",))))

    def containers(self) -> Iterator[tuple[Route, Body]]:
        """Every container and init container."""
        for route, template in self.templates:
            for field in ("initContainers", "containers"):
                for index, container in enumerate(template["spec"].get(field) or ()):
                    yield (*route, "spec", field, index), container


def _templates(value: Any, route: Route) -> Iterator[tuple[Route, Body]]:
    if not isinstance(value, dict) or len(route) > _DEPTH:
        return
    for key, inner in value.items():
        if key == "template" and isinstance(inner, dict) and "containers" in inner.get("spec", {}):
            yield (*route, key), inner
        else:
            yield from _templates(inner, (*route, key))
