"""Pod templates of a run, each with its role, by the facts of the kind."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gen.kubernetes import at
from gen.resources.base import ANY_ITEM, ANY_KEY, Wildcard
from gen.resources.pods import follow, get, matches

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.resources.base import Pattern, PodSet, Resource


class Template(Struct, frozen=True, kw_only=True):
    """The pods of one role."""

    role: str
    route: Route
    """Route of the template."""
    pods: PodSet | None
    metadata: Body
    spec: Body
    """Empty if it is not a mapping."""
    container: Body
    """The training container."""
    replicas: int
    restart: str | None

    @property
    def steps(self) -> tuple[str | int, ...]:
        """Values of the wildcards of its route."""
        pattern = self.pods.template if self.pods is not None else ()
        return tuple(step for step, part in zip(self.route, pattern, strict=False) if isinstance(part, Wildcard))


def templates(facts: Resource, body: Body) -> list[Template]:
    """All pods of an object. If those of the kind are in the cluster, one with the fields of the object."""
    if facts.nodes is not None:
        return [_of_nodes(facts, body)]
    return [
        _template(facts, body, pods, route)
        for pods in facts.pods
        for route, template in matches(body, pods.template)
        if isinstance(template, dict)
    ]


def _of_nodes(facts: Resource, body: Body) -> Template:
    nodes = facts.nodes
    assert nodes is not None  # noqa: S101 - the caller has tested it
    holder = follow(body, nodes.count[:-1])
    container = dict(holder) if isinstance(holder, dict) else {}
    resources = follow(body, nodes.resources)
    container["resources"] = resources if isinstance(resources, dict) else {}
    return Template(
        role="node",
        route=nodes.count[:-1],
        pods=None,
        metadata={},
        spec={},
        container=container,
        replicas=_number(follow(body, nodes.count), 1),
        restart=None,
    )


def _template(facts: Resource, body: Body, pods: PodSet, route: Route) -> Template:
    template = follow(body, route)
    spec = _mapping(at(template, "spec"))
    numbers = (_number(follow(body, beside(count.route, pods, route)), count.default) for count in pods.counts)
    holder = follow(body, route[:-1])
    restart = at(holder, "restartPolicy") if facts.restarts_by_role else spec.get("restartPolicy")
    return Template(
        role=_role(body, pods, route),
        route=route,
        pods=pods,
        metadata=_mapping(at(template, "metadata")),
        spec=spec,
        container=_mapping(spec["containers"][main_index(spec, facts.container)]) if _containers(spec) else {},
        replicas=prod(numbers),
        restart=restart if isinstance(restart, str) else None,
    )


def beside(pattern: Pattern, pods: PodSet, route: Route) -> Route:
    """A route with the same wildcards as a template; they are replaced by the steps of the template's route."""
    steps = iter([step for step, part in zip(route, pods.template, strict=False) if isinstance(part, Wildcard)])
    return tuple(next(steps, "") if isinstance(part, Wildcard) else part for part in pattern)


def _role(body: Body, pods: PodSet, route: Route) -> str:
    for index in reversed(range(len(pods.template))):
        if pods.template[index] is ANY_KEY:
            return str(route[index]).lower()
        if pods.template[index] is ANY_ITEM:
            name = get(follow(body, route[: index + 1]), pods.item_name)
            return name if isinstance(name, str) else pods.role
    return pods.role


def main_index(spec: Body, wanted: str | None) -> int:
    """Index of the training container: the one that the operator looks for, or the first."""
    names = [at(one, "name") for one in _containers(spec)]
    return names.index(wanted) if wanted in names else 0


def _containers(spec: Body) -> list[Any]:
    found = spec.get("containers")
    return found if isinstance(found, list) else []


def _mapping(value: Any) -> Body:
    return value if isinstance(value, dict) else {}


def _number(value: Any, default: int) -> int:
    return int(value) if isinstance(value, int | str) and str(value).isdecimal() and len(str(value)) < 10 else default  # noqa: PLR2004 - more is no number of pods
