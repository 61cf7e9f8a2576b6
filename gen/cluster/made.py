"""Kinds of objects that runs start: steps, trials, and objects of a schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.kubernetes import at
from gen.resources import RESOURCES, resource_of_object
from gen.resources.graphs import graph_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.cluster.wanted import Wanted
    from gen.resources.base import Resource


def made_kinds(one: Wanted) -> Iterator[tuple[str, Resource]]:
    """API versions and kinds of the objects that a run starts."""
    resource = one.resource
    bodies = list(graph_of(resource).objects(one.body)) if resource.steps else []
    if resource.holds is not None:
        bodies.append(at(one.body, *resource.holds.route))
    for body in bodies:
        known = resource_of_object(at(body, "apiVersion"), at(body, "kind"))
        if known is not None and known.is_run:
            yield str(body["apiVersion"]), known
    if resource.is_schedule and resource.is_workflow:
        yield from ((one.version, other) for other in RESOURCES.values() if other.is_run and other.is_workflow)
