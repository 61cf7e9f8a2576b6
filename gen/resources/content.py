"""The content of a run: its object without metadata and without the field that suspends it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.kubernetes import with_field
from gen.resources import resource_of_object
from gen.resources.graphs import graph_of

if TYPE_CHECKING:
    from gen.kubernetes import Body


def content(body: Body) -> Body:
    """What must not change while a run exists. Suspension and metadata may."""
    resource = resource_of_object(body.get("apiVersion"), body.get("kind"))
    kept = {key: value for key, value in body.items() if key != "metadata"}
    if resource is not None and resource.steps:
        graph = graph_of(resource)
        kept = {**kept, "steps": [content(inner) for inner in graph.objects(body)]}
        kept = with_field(kept, graph.route, graph.without_objects(body))
    return kept if resource is None or resource.suspend is None else with_field(kept, resource.suspend, None)
