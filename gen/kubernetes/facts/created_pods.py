"""The pods that operators create for an object: their names, and the templates with the variables that they add.

The facts of each kind are in the modules of their groups: names of pods (`PodSet.pod_name`), and variables (`pod_env`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import Final

from msgspec import Struct

from gen.base import at, follow, get
from gen.kubernetes import quantity
from gen.kubernetes.facts import held_object, resource_of_object
from gen.kubernetes.facts.base import ANY_ITEM, ANY_KEY, PodOf, Resource
from gen.kubernetes.facts.graphs import graph_of
from gen.kubernetes.facts.jobset import JOBSET
from gen.kubernetes.facts.pods import Pods, pod_sets
from gen.kubernetes.facts.runtimes import NO_RUNTIMES, Runtimes
from gen.kubernetes.objects import Body

RANDOM: Final = "xxxxx"
"""In place of the random characters in a name."""
_MOST: Final = 10_000
"""Pods of an object that are listed."""


class CreatedPod(Struct, frozen=True, kw_only=True):
    """A pod of an object."""

    name: str
    role: str
    metadata: Body
    spec: Body

    @property
    def containers(self) -> list[Body]:
        return _bodies(self.spec.get("containers"))

    @property
    def init_containers(self) -> list[Body]:
        return _bodies(self.spec.get("initContainers"))

    @property
    def resources(self) -> Mapping[str, str]:
        """Requested amounts of all of its containers, by resource. ValueError for an amount that cannot be read."""
        amounts: dict[str, list[str]] = {}
        for container in self.containers:
            for name, amount in (at(container, "resources", "limits") or {}).items():
                amounts.setdefault(name, []).append(str(amount))
        return {name: quantity.total(found) for name, found in amounts.items()}


def created_pods(body: Body, resource: Resource, runtimes: Runtimes = NO_RUNTIMES) -> Iterator[CreatedPod]:
    """The pods of an object, those of steps and trials with their templates, each in the order of its role."""
    inner = held_object(body)
    bodies = (
        [inner]
        if inner is not None
        else [task.body for task in graph_of(resource).tasks(body) if task.body]
        if resource.steps
        else []
    )
    for one in bodies:
        kind = resource_of_object(one.get("apiVersion"), one.get("kind"))
        if kind is not None:
            yield from created_pods({"metadata": {"name": f"<{kind.kind}>"}, **one}, kind, runtimes)
    if not bodies:
        yield from _own(body, resource, runtimes)


def _own(body: Body, resource: Resource, runtimes: Runtimes) -> Iterator[CreatedPod]:
    if resource.nodes is not None:
        body, resource = runtimes.jobset(body), JOBSET
    run = str(at(body, "metadata", "name"))
    for found in pod_sets(resource, body):
        role = _role(body, found)
        name = found.of.pod_name if isinstance(found.of.pod_name, str) else found.of.pod_name(body, role)
        numbers = (range(int(str(count))) for count in found.counts)
        for number, indices in enumerate(islice(product(*numbers), _MOST)):
            yield CreatedPod(
                name=name.format(*indices, run=run, role=role.lower(), random=RANDOM),
                role=role.lower(),
                metadata=_dict(at(found.template, "metadata")),
                spec=_made(body, resource, role, number, _dict(at(found.template, "spec"))),
            )


def _role(body: Body, pods: Pods) -> str:
    """The key or the name of a role, as the operator writes it in names."""
    for index in reversed(range(len(pods.of.template))):
        if pods.of.template[index] is ANY_KEY:
            return str(pods.route[index])
        if pods.of.template[index] is ANY_ITEM:
            return str(get(follow(body, pods.route[: index + 1]), pods.of.item_name) or pods.of.role)
    return pods.of.role


def _made(body: Body, resource: Resource, role: str, index: int, spec: Body) -> Body:
    """A pod with the variables of its operator, which are appended to those of the containers, and its containers."""
    env, added = resource.pod_env, resource.added_containers
    more = added(body, role) if added is not None else {}
    made = dict(spec)
    for field in ("containers", "initContainers"):
        own, init = _bodies(spec.get(field)), field != "containers"
        if env is not None:
            own = [
                {**one, "env": [*(one.get("env") or ()), *variables]}
                if (variables := env(PodOf(body, role, index, one, number == 0 and not init, init)))
                else one
                for number, one in enumerate(own)
            ]
        if found := [*own, *more.get(field, ())]:
            made[field] = found
    return made


def _bodies(value: object) -> list[Body]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _dict(value: object) -> Body:
    return value if isinstance(value, dict) else {}
