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
        """`route` goes by names; what was said last counts."""
        self._origins.pop(route, None)
        self._origins[route] = (layer, origin)

    def add(self, later: Provenance) -> None:
        """What a later patch set."""
        for route, (layer, origin) in later._origins.items():
            self.record(route, layer, origin)

    def blame(self, body: Any, route: Route) -> Location | None:
        """The place that set the value at `route`, or something in it, or around it, or else came nearest to it.

        None when no patch set anything.
        """
        named = labelled(body, route)
        if (setting := self._setting(named)) is None:
            return None
        layer, inner = self._origins[setting]
        further = route[len(setting) :] if _leads(setting, named) else ()
        return layer.find(inner + further).value

    def _setting(self, named: Route) -> Route | None:
        """The recorded route that has most to do with one; among equals the last."""

        def nearness(recorded: Route) -> tuple[int, bool, bool]:
            apart = (i for i, (a, b) in enumerate(zip(recorded, named, strict=False)) if a != b)
            shared = next(apart, min(len(recorded), len(named)))
            return shared, recorded == named, _leads(recorded, named)

        return max(reversed(self._origins), key=nearness, default=None)


def _leads(start: Route, route: Route) -> bool:
    return route[: len(start)] == start
