"""The graph of the steps of an object, by the tool that runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.kubernetes import identity_of
from gen.resources import resource_of_object

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gen.kubernetes import Body
    from gen.resources.base import Resource
    from gen.resources.steps import Graph


def graph_of(kind: Resource) -> Graph:
    """How to read and write the steps of objects of a kind that has steps."""
    if kind.is_definition:
        from gen.resources.definitions import Definition  # noqa: PLC0415 - few jobs have steps

        return Definition(kind.steps)
    from gen.resources.workflows import Workflow  # noqa: PLC0415 - as above

    return Workflow(kind.steps)


def created_by(bodies: Iterable[Body]) -> tuple[str, ...]:
    """The objects that workflows create, as `Kind namespace/name`. Other runs have names that are not known."""
    kinds = ((body, resource_of_object(body["apiVersion"], body["kind"])) for body in bodies)
    runs = ((body, kind) for body, kind in kinds if kind is not None and kind.is_run and kind.steps)
    return tuple(identity_of(one) for body, kind in runs for one in graph_of(kind).objects(body))
