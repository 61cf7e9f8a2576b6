"""Graphs of the steps of an object: how to read them, their order, and the maximum number of concurrent steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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
    steps = [step for step in needs if weights.get(step, 0) > 0]
    supply = {step: weights[step] for step in steps}
    demand = dict(supply)
    flow: dict[str, dict[str, int]] = {step: {} for step in steps}
    total = sum(supply.values())
    while (path := _augmenting(steps, above, supply, demand, flow)) is not None:
        total -= _push(path, supply, demand, flow)
    return total


def _augmenting(
    steps: list[str],
    above: Mapping[str, frozenset[str]],
    supply: Mapping[str, int],
    demand: Mapping[str, int],
    flow: Mapping[str, Mapping[str, int]],
) -> list[str] | None:
    """Earlier and later steps in turn, from one with supply to one with demand; None at the end."""
    queue = [step for step in steps if supply[step] > 0]
    came: dict[tuple[str, bool], tuple[str, bool] | None] = {(step, True): None for step in queue}
    waiting: list[tuple[str, bool]] = [(step, True) for step in queue]
    for here in waiting:
        step, earlier = here
        if not earlier and demand[step] > 0:
            path: list[str] = []
            at: tuple[str, bool] | None = here
            while at is not None:
                path.append(at[0])
                at = came[at]
            return path[::-1]
        nearby = (other for other in steps if (step in above[other] if earlier else flow[other].get(step, 0) > 0))
        for other in nearby:
            if (other, not earlier) not in came:
                came[other, not earlier] = here
                waiting.append((other, not earlier))
    return None


def _push(path: list[str], supply: dict[str, int], demand: dict[str, int], flow: dict[str, dict[str, int]]) -> int:
    """Send as much as possible along the path, and return the amount."""
    back = [flow[path[index + 1]][path[index]] for index in range(1, len(path) - 1, 2)]
    amount = min(supply[path[0]], demand[path[-1]], *back)
    supply[path[0]] -= amount
    demand[path[-1]] -= amount
    for index in range(len(path) - 1):
        first, second = path[index], path[index + 1]
        if index % 2 == 0:
            flow[first][second] = flow[first].get(second, 0) + amount
        else:
            flow[second][first] -= amount
    return amount


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
