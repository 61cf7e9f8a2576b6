"""Quantities: schemas take any text for one, and the API server does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Route
    from gen.validate.view import View


def quantities(view: View) -> Iterator[tuple[Route, str]]:
    """Faults of what containers, claims and volumes ask for."""
    for route, container in view.containers():
        yield from _resources(container.get("resources"), (*route, "resources"))
    spec = view.body.get("spec") or {}
    yield from _resources(spec.get("resources"), ("spec", "resources"))
    yield from _amounts(spec.get("capacity"), ("spec", "capacity"))
    for route, template in view.templates:
        for index, volume in enumerate(template["spec"].get("volumes") or ()):
            if (limit := (volume.get("emptyDir") or {}).get("sizeLimit")) is not None:
                here = (*route, "spec", "volumes", index, "emptyDir")
                yield from _amounts({"sizeLimit": limit}, here)


def _resources(resources: Any, route: Route) -> Iterator[tuple[Route, str]]:
    for field in ("limits", "requests"):
        yield from _amounts((resources or {}).get(field), (*route, field))


def _amounts(amounts: Any, route: Route) -> Iterator[tuple[Route, str]]:
    for name, value in (amounts or {}).items():
        try:
            whole = quantity.amount(str(value)) % 1 == 0
        except ValueError:
            yield (*route, name), f"`{value}` is no quantity"
            continue
        if not whole and "/" in name:
            yield (*route, name), f"`{name}` is counted in whole numbers, not `{value}`"
