"""Fields of a run in Git that have another value in the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gen import quantity
from gen.kubernetes import QUEUE_LABEL, at
from gen.resources.base import Wildcard
from gen.resources.engines import ENGINES
from gen.resources.mutated import changed_by_autoscalers, changed_by_kueue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.resources.base import Pattern, Resource

_PREFIXES: Final = tuple(prefix for engine in ENGINES.values() for prefix in engine.prefixes)
_AMOUNTS: Final = frozenset({"limits", "requests", "sizeLimit", "storage"})


def drift(resource: Resource, wanted: Body, live: Body) -> list[Route]:
    """Routes of the fields that differ. Fields that only the cluster has are defaults, or belong to others."""
    ignored = [*changed_by_autoscalers(resource)]
    if at(wanted, "metadata", "labels", QUEUE_LABEL) is not None:
        ignored += changed_by_kueue(resource)
    metadata = ((field, at(wanted, "metadata", field), at(live, "metadata", field)) for field in _METADATA)
    found = [
        ("metadata", field, *route)
        for field, ours, theirs in metadata
        for route in _differences(ours or {}, theirs or {}, ())
        if not str(route[0] if route else "").startswith(_PREFIXES)
    ]
    ours = {key: value for key, value in wanted.items() if key not in _IDENTITY}
    found += _differences(ours, live, ())
    return [route for route in found if not any(_matches(pattern, route) for pattern in ignored)]


_METADATA: Final = ("labels", "annotations")
_IDENTITY: Final = ("apiVersion", "kind", "metadata")


def _differences(ours: Any, theirs: Any, route: Route) -> Iterator[Route]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key, value in ours.items():
            if key not in theirs:
                yield from [] if value in (None, {}, []) else [(*route, key)]
            else:
                yield from _differences(value, theirs[key], (*route, key))
    elif isinstance(ours, list) and isinstance(theirs, list):
        if len(ours) != len(theirs):
            yield route
            return
        for index, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from _differences(one, other, (*route, index))
    elif not _equal(ours, theirs, route):
        yield route


def _equal(ours: Any, theirs: Any, route: Route) -> bool:
    """Servers keep amounts in a form of their own."""
    if ours == theirs:
        return type(ours) is type(theirs) or not (isinstance(ours, bool) or isinstance(theirs, bool))
    if _AMOUNTS.isdisjoint(map(str, route)) or isinstance(ours, (dict, list)) or isinstance(theirs, (dict, list)):
        return False
    amount = quantity.server_amount(str(ours))
    return amount is not None and amount == quantity.server_amount(str(theirs))


def _matches(pattern: Pattern, route: Route) -> bool:
    """Whether a route is at the place of a pattern or below."""
    if len(route) < len(pattern):
        return False
    return all(isinstance(step, Wildcard) or step == here for step, here in zip(pattern, route, strict=False))
