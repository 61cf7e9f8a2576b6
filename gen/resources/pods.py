"""Find the pod templates of an object: by the facts of its kind, or by their shape.

Objects may have been edited by hand, so any part of them can have any type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gen.resources.base import ANY_ITEM, Wildcard

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.resources.base import Count, Pattern, Resource


_CONTAINERS: Final = ("containers", "initContainers", "ephemeralContainers")


class Pods(Struct, frozen=True):
    """Pods of an object that share a template."""

    route: Route
    """Route of the template."""
    template: Any
    counts: tuple[Any, ...]
    """Factors of the number of pods, as the object has them."""
    largest: tuple[Any, ...]
    """The same, with the largest values that an autoscaler may set."""


def pod_sets(resource: Resource, body: Any) -> Iterator[Pods]:
    """The pods that an operator creates for an object, by the facts of its kind."""
    for pods in resource.pods:
        scaled = any(count.largest is not None for count in pods.counts)
        for route, template in matches(body, pods.template):
            counts = tuple([count_at(body, count, route) for count in pods.counts])
            largest = tuple([largest_at(body, count, route) for count in pods.counts]) if scaled else counts
            yield Pods(route, template, counts, largest)


def matches(value: Any, pattern: Pattern) -> list[tuple[Route, Any]]:
    """Every existing value that a pattern leads to, with its route."""
    found: list[tuple[Route, Any]] = [((), value)]
    for step in pattern:
        if isinstance(step, Wildcard):
            found = [((*route, key), inner) for route, holder in found for key, inner in _entries(holder, step)]
        else:
            holders = [(route, holder) for route, holder in found if isinstance(holder, dict) and step in holder]
            found = [((*route, step), holder[step]) for route, holder in holders]
    return found


def _entries(holder: Any, step: Wildcard) -> Iterable[tuple[str | int, Any]]:
    if step is ANY_ITEM:
        return enumerate(holder) if isinstance(holder, list) else ()
    return holder.items() if isinstance(holder, dict) else ()


def count_at(body: Any, count: Count, route: Route) -> Any:
    """The value of a count; its wildcards are replaced by the steps of a route with the same wildcards."""
    value = _beside(body, count.route, route)
    return count.default if value is None else value


def largest_at(body: Any, count: Count, route: Route) -> Any:
    """The largest value of a count that an autoscaler may set; without one, the value itself."""
    largest = _beside(body, count.largest, route) if count.largest is not None else None
    return count_at(body, count, route) if largest is None else largest


def _beside(body: Any, route: Pattern, template: Route) -> Any:
    """The value at a route; its wildcards are replaced by the steps of the template's route."""
    value = body
    for index, step in enumerate(route):
        value = get(value, template[index] if isinstance(step, Wildcard) else step)
    return value


def get(holder: Any, step: str | int) -> Any:
    """One step of a route; None if there is nothing."""
    if isinstance(holder, dict):
        return holder.get(step)
    if isinstance(holder, list) and isinstance(step, int) and step < len(holder):
        return holder[step]
    return None


def follow(value: Any, route: Route) -> Any:
    """The value at the end of a route; None if there is none."""
    for step in route:
        value = get(value, step)
    return value


def replaced(value: Any, route: Route, new: Any) -> Any:
    """A copy with another value at a route. Mappings that are missing on the way are added."""
    if not route:
        return new
    step, *rest = route
    if isinstance(value, list):
        return [replaced(one, tuple(rest), new) if index == step else one for index, one in enumerate(value)]
    holder = value if isinstance(value, dict) else {}
    return {**holder, step: replaced(holder.get(step), tuple(rest), new)}


def templates_by_shape(
    value: Any, route: Route = (), skip: frozenset[str] = frozenset()
) -> Iterator[tuple[Route, Body]]:
    """Every mapping with `spec.containers` below a value, at any depth, except below the fields to skip."""
    waiting = [(route, value)]
    while waiting:
        here, holder = waiting.pop()
        if is_template(holder):
            yield here, holder
        elif isinstance(holder, dict):
            inner = [((*here, key), one) for key, one in holder.items() if key not in skip]
            waiting += reversed(inner)
        elif isinstance(holder, list):
            waiting += reversed([((*here, index), one) for index, one in enumerate(holder)])


def is_template(value: Any) -> bool:
    spec = value.get("spec") if isinstance(value, dict) else None
    return isinstance(spec, dict) and isinstance(spec.get("containers"), list)


def pods_by_shape(value: Any, route: Route = ()) -> Iterator[Route]:
    """Every mapping with a list of containers below a value, at any depth: pods, also outside of templates."""
    if isinstance(value, dict) and any(isinstance(value.get(field), list) for field in _CONTAINERS):
        yield route
        return
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in entries:
        yield from pods_by_shape(inner, (*route, step))
