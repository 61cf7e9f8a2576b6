"""Pods and GPUs of the steps of a workflow, and their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from gen.resources.antichain import ancestors
from gen.resources.demand import Demand, of_task
from gen.resources.graphs import graph_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from gen.kubernetes import Body
    from gen.resources.base import Resource
    from gen.resources.demand import Units
    from gen.resources.steps import Task


class StepDemand(Struct, frozen=True, kw_only=True):
    """A step of a workflow."""

    name: str
    kind: str
    """Kubernetes kind of its object."""
    depth: int
    """Steps that end before it starts, on the longest path."""
    demand: Demand
    needs: tuple[str, ...] = ()
    """Steps that it waits for directly."""


def step_demands(body: Body, kind: Resource, units: Units) -> tuple[StepDemand, ...]:
    """The steps of a workflow, each after those that it waits for. ValueError for an amount that cannot be read."""
    tasks = graph_of(kind).tasks(body)
    above = ancestors({task.name: task.needs for task in tasks})
    known = {task.name: task for task in tasks}
    names = {task.name for task in tasks if task.body is not None}
    depths: dict[str, int] = {}
    for name in sorted(names, key=lambda name: len(above[name])):
        depths[name] = 1 + max((depths.get(other, 0) for other in above[name] & names), default=-1)
    return tuple(
        StepDemand(
            name=task.name,
            kind=str(task.body.get("kind")),
            depth=depths[task.name],
            demand=of_task(task, units),
            needs=tuple(sorted(_steps_before(task.needs, known, names))),
        )
        for task in tasks
        if task.body is not None
    )


def _steps_before(needs: Iterable[str], known: Mapping[str, Task], names: Collection[str]) -> set[str]:
    """The steps with the nodes that a step waits for: those that wait for its end, or read its results."""
    found: set[str] = set()
    seen: set[str] = set()
    left = list(needs)
    while left:
        name = left.pop()
        if name in names:
            found.add(name)
        elif name in known and name not in seen:
            seen.add(name)
            left += known[name].needs
    return found
