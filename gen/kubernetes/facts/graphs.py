"""Graphs of the steps of an object: how to read them, their order, and the maximum number of concurrent steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.steps import Graph
from gen.kubernetes.objects import Body, identity_of


def graph_of(kind: Resource) -> Graph:
    """How to read and write the steps of objects of a kind that has steps."""
    if kind.is_definition:
        from gen.kubernetes.facts.kfp import Definition

        return Definition(kind.steps)
    from gen.kubernetes.facts.argo import Workflow

    return Workflow(kind.steps)


def created_by(bodies: Iterable[Body]) -> tuple[str, ...]:
    """The objects that workflows create, as `Kind namespace/name`. Other runs have names that are not known."""
    kinds = ((body, resource_of_object(body["apiVersion"], body["kind"])) for body in bodies)
    runs = ((body, kind) for body, kind in kinds if kind is not None and kind.is_run and kind.steps)
    return tuple(identity_of(one) for body, kind in runs for one in graph_of(kind).objects(body))


def ancestors(needs: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """All that each step waits for, directly or not. Steps in a cycle wait for themselves."""
    known = dict(needs)
    for _ in needs:
        wider = {
            step: above.union(*(known.get(other, frozenset()) for other in above)) for step, above in known.items()
        }
        if wider == known:
            break
        known = wider
    return known


def widest(needs: Mapping[str, frozenset[str]], weights: Mapping[str, int]) -> int:
    """The largest sum of weights of steps that do not wait for each other.

    By Dilworth's theorem for weights, it is the sum of all weights without the largest flow from steps to later ones.
    """
    above = {step: before - {step} for step, before in ancestors(needs).items()}
    steps = {step: weight for step in needs if (weight := weights.get(step, 0)) > 0}
    total = sum(steps.values())
    room: dict[_Node, dict[_Node, int]] = {_START: {(step, True): weight for step, weight in steps.items()}, _END: {}}
    for step, weight in steps.items():
        room[step, True] = {(other, False): total for other in steps if step in above[other]}
        room[step, False] = {_END: weight}
    while path := _path(room):
        amount = min(room[one][other] for one, other in pairwise(path))
        total -= amount
        for one, other in pairwise(path):
            room[one][other] -= amount
            room[other][one] = room[other].get(one, 0) + amount
    return total


_Node = tuple[str | None, bool]
"""A step as an earlier one, or as a later one; without a name, the start and the end."""
_START: _Node = None, True
_END: _Node = None, False


def _path(room: Mapping[_Node, Mapping[_Node, int]]) -> list[_Node]:
    """The shortest path from the start to the end on which more can flow; empty if there is none."""
    came = {_START: _START}
    waiting = [_START]
    for here in waiting:
        for other, left in room[here].items():
            if left > 0 and other not in came:
                came[other] = here
                waiting.append(other)
    path = [_END] if _END in came else []
    while path and path[-1] != _START:
        path.append(came[path[-1]])
    return path[::-1]


def longest(needs: Mapping[str, frozenset[str]], seconds: Mapping[str, int | None]) -> int | None:
    """The longest time of steps after each other; None if a step has no limit, or waits for itself."""
    known: dict[str, int] = {}
    left = dict(needs)
    while left:
        ready = [step for step, above in left.items() if not above & left.keys()]
        if not ready:
            return None
        for step in ready:
            own = seconds.get(step, 0)
            if own is None:
                return None
            known[step] = own + max((known.get(other, 0) for other in left.pop(step)), default=0)
    return max(known.values(), default=0)
