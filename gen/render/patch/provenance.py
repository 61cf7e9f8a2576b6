"""Provenance of patched values. Routes identify list entries by name, so that they survive reordering."""

from __future__ import annotations

from msgspec import Struct

from gen.base import Location, Route, get
from gen.base.yaml.layers import Layer

_NAMING = ("mountPath", "containerPort", "port", "name")
"""Fields that identify the entries of Kubernetes' lists, in order of preference."""


def label(item: object, index: int) -> str | int:
    """Name of a list entry in a route: `[name=pytorch]`, or its index if no field identifies it."""
    if isinstance(item, dict):
        for key in _NAMING:
            if key in item:
                return f"[{key}={item[key]}]"
    return index


def named_route(body: object, route: Route) -> Route:
    """A route with names in place of indices."""
    result: list[str | int] = []
    value = body
    for step in route:
        holder = value
        value = get(value, step)
        result.append(label(value, step) if isinstance(holder, list) and isinstance(step, int) else step)
    return tuple(result)


class Provenance(Struct):
    """Routes in patches by routes in the object. Places are looked up only for findings."""

    _origins: dict[Route, tuple[Layer, Route]] = {}

    def __bool__(self) -> bool:
        """Whether any patch changed the object."""
        return bool(self._origins)

    def record(self, route: Route, layer: Layer, origin: Route) -> None:
        """Record the origin of a named route. Later origins take precedence."""
        self._origins.pop(route, None)
        self._origins[route] = (layer, origin)

    def add(self, later: Provenance) -> None:
        """Add the provenance of a later patch."""
        for route, (layer, origin) in later._origins.items():
            self.record(route, layer, origin)

    def blame(self, body: object, route: Route, *, key: bool = False) -> Location | None:
        """The place in a patch that set the value at `route`, a value inside or around it, or else the nearest value.

        With `key`, the place of its key instead. None if no patch changed the object.
        """
        named = named_route(body, route)
        if (setting := self._setting(named)) is None:
            return None
        layer, inner = self._origins[setting]
        further = route[len(setting) :] if _leads(setting, named) else ()
        place = layer.find(inner + further)
        return place.key if key else place.value

    def setting(self, body: object, route: Route) -> Location | None:
        """The place in a patch that set the value at `route`, or a value inside or around it; None if none did."""
        named = named_route(body, route)
        found = self._setting(named)
        concerned = found is not None and route and (_leads(found, named) or _leads(named, found))
        return self.blame(body, route) if concerned else None

    def _setting(self, named: Route) -> Route | None:
        """The recorded route that is nearest to `named`; the last of several."""

        def nearness(recorded: Route) -> tuple[int, bool, bool]:
            apart = (i for i, (a, b) in enumerate(zip(recorded, named, strict=False)) if a != b)
            shared = next(apart, min(len(recorded), len(named)))
            return shared, recorded == named, _leads(recorded, named)

        return max(reversed(self._origins), key=nearness, default=None)


def _leads(start: Route, route: Route) -> bool:
    return route[: len(start)] == start
