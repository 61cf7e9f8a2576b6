"""Which place of which patch set a value. List entries go by what names them, so that it survives reordering."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gen.diagnostics import Location, Route
    from gen.load import Layer

_NAMING = ("mountPath", "containerPort", "port", "name")
"""Fields that tell the entries of Kubernetes' lists apart, the one that decides first."""


def label(item: Any, index: int) -> str | int:
    """How an entry of a list is called in a route: `[name=pytorch]`, or its index where nothing names it."""
    if isinstance(item, dict):
        for key in _NAMING:
            if key in item:
                return f"[{key}={item[key]}]"
    return index


def labelled(body: Any, route: Route) -> Route:
    """A route with indices as one that goes by names."""
    result: list[str | int] = []
    value = body
    for step in route:
        holder = value
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            value = None
        result.append(label(value, step) if isinstance(holder, list) and isinstance(step, int) else step)
    return tuple(result)


@dataclass(slots=True)
class Provenance:
    """The patches' own routes, kept until a finding asks for a place."""

    _origins: dict[Route, tuple[Layer, Route]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether any patch touched the object."""
        return bool(self._origins)

    def record(self, route: Route, layer: Layer, origin: Route) -> None:
        """`route` goes by names."""
        self._origins[route] = (layer, origin)

    def blame(self, body: Any, route: Route) -> Location | None:
        """The place that set the value at `route`, or something around it; None when no patch did."""
        named = labelled(body, route)
        for length in range(len(named), 0, -1):
            if (origin := self._origins.get(named[:length])) is not None:
                layer, inner = origin
                return layer.find(inner + route[length:]).value
        return None
