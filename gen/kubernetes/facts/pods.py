"""The pods of an object: templates, derived names, maximum run time, and the pods that operators create from them.

Pod templates are found by the facts of the kind, or by their shape. Objects may have been edited by hand, so any part
of them can have any type. The names and variables of created pods are facts of each kind, in the modules of their
groups: `PodSet.pod_name` and `pod_env`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, product
from typing import Any, Final

from msgspec import Struct, field

from gen.base import Route, as_mapping, as_mappings, at, entries, follow, get
from gen.kubernetes import quantity
from gen.kubernetes.facts import held_object, resource_of_object
from gen.kubernetes.facts.base import ANY_ITEM, ANY_KEY, Count, DerivedName, Pattern, PodOf, PodSet, Resource, Wildcard
from gen.kubernetes.facts.graphs import graph_of
from gen.kubernetes.facts.runtimes import NO_RUNTIMES, Runtimes
from gen.kubernetes.objects import Body

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
    of: PodSet
    """The facts of the pods."""


def pod_sets(resource: Resource, body: object) -> Iterator[Pods]:
    """The pods that an operator creates for an object, by the facts of its kind."""
    for pods in resource.pods:
        scaled = any(count.largest is not None for count in pods.counts)
        for route, template in matches(body, pods.template):
            counts = tuple([count_at(body, count, route) for count in pods.counts])
            largest = tuple([largest_at(body, count, route) for count in pods.counts]) if scaled else counts
            yield Pods(route, template, counts, largest, pods)


def matches(value: object, pattern: Pattern) -> list[tuple[Route, Any]]:
    """Every existing value that a pattern leads to, with its route."""
    found: list[tuple[Route, Any]] = [((), value)]
    for step in pattern:
        if isinstance(step, Wildcard):
            found = [((*route, key), inner) for route, holder in found for key, inner in _entries(holder, step)]
        else:
            holders = [(route, holder) for route, holder in found if isinstance(holder, dict) and step in holder]
            found = [((*route, step), holder[step]) for route, holder in holders]
    return found


def is_at(route: Route, pattern: Pattern) -> bool:
    """Whether a pattern leads to a route."""
    return len(route) == len(pattern) and all(
        isinstance(step, int if of is ANY_ITEM else str) if isinstance(of, Wildcard) else step == of
        for step, of in zip(route, pattern, strict=True)
    )


def _entries(holder: object, step: Wildcard) -> Iterable[tuple[str | int, Any]]:
    if step is ANY_ITEM:
        return enumerate(holder) if isinstance(holder, list) else ()
    return holder.items() if isinstance(holder, dict) else ()


def count_at(body: object, count: Count, route: Route) -> Any:
    """The value of a count; its wildcards are replaced by the steps of a route with the same wildcards."""
    value = _beside(body, count.route, route)
    return count.default if value is None else value


def largest_at(body: object, count: Count, route: Route) -> Any:
    """The largest value of a count that an autoscaler may set; without one, the value itself."""
    largest = _beside(body, count.largest, route) if count.largest is not None else None
    return count_at(body, count, route) if largest is None else largest


def _beside(body: object, route: Pattern, template: Route) -> Any:
    """The value at a route; its wildcards are replaced by the steps of the template's route."""
    value = body
    for index, step in enumerate(route):
        value = get(value, template[index] if isinstance(step, Wildcard) else step)
    return value


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


def is_template(value: object) -> bool:
    spec = value.get("spec") if isinstance(value, dict) else None
    return isinstance(spec, dict) and isinstance(spec.get("containers"), list)


def pods_by_shape(value: object, route: Route = ()) -> Iterator[Route]:
    """Every mapping with a list of containers below a value, at any depth: pods, also outside of templates."""
    if isinstance(value, dict) and any(isinstance(value.get(field), list) for field in _CONTAINERS):
        yield route
        return
    for step, inner in entries(value):
        yield from pods_by_shape(inner, (*route, step))


_ROLE = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"


def longest_suffixes(resource: Resource, body: object) -> Iterator[str]:
    """The longest suffix of each derived name of an object, which is the one with the highest indices."""
    for derived in resource.derived:
        if not derived.each:
            yield from _suffix(derived, "", [largest_at(body, count, ()) for count in derived.counts])
        for number, (route, holder) in enumerate(matches(body, derived.each) if derived.each else ()):
            yield from _suffix(
                derived,
                _role(derived, route, holder, number),
                [largest_at(body, count, route) for count in derived.counts],
            )


def last_suffixes(resource: Resource, role: str, *counts: int) -> Iterator[str]:
    """The same for the pods of one role, before there is an object. The counts are the numbers of its indices."""
    for derived in resource.derived:
        yield from _suffix(derived, role.lower(), counts[: len(derived.counts)])


def is_derived(resource: Resource, suffix: str) -> bool:
    """Whether an object gets a name that consists of the name of an object of this kind and the suffix."""
    return any(_pattern(derived).fullmatch(suffix) for derived in resource.derived if derived.kinds)


def _pattern(derived: DerivedName) -> re.Pattern[str]:
    role = "|".join(derived.only) or _ROLE
    text = re.escape(derived.suffix).replace(r"\{role\}", f"(?:{role})")
    return re.compile(re.sub(r"\\\{[0-9]\\\}", "[0-9]+", text))


def _suffix(derived: DerivedName, role: str, counts: Any) -> Iterator[str]:
    if (derived.only and role not in derived.only) or not all(isinstance(count, int) and count > 0 for count in counts):
        return
    yield derived.suffix.format(*(count - 1 for count in counts), role=role)


def _role(derived: DerivedName, route: Route, holder: object, number: int) -> str:
    if derived.each[-1] is not ANY_ITEM:
        return str(route[-1]).lower()
    name = get(holder, "name")
    return name if isinstance(name, str) and name else derived.unnamed.format(number)


KEPT: Final = "None"
"""Clean-up policy that lets pods run on after the end of the run."""


def longest_time(limit: int | None, *, attempts: int = 1, kept: int | None = 0) -> int | None:
    """Seconds of all attempts, with the time for which pods stay; None for unlimited."""
    return None if limit is None or kept is None else limit * attempts + kept


def run_time(body: Body, kind: Resource) -> int | None:
    """Upper bound of the running time of an object's pods, in seconds; None without one.

    ValueError for a value that cannot be read.
    """
    limit = _seconds(body, kind.deadline)
    retries = _seconds(body, kind.retries) if kind.limits_attempt else None
    stays = kind.cleanup is not None and follow(body, kind.cleanup) == KEPT
    return longest_time(limit, attempts=1 + (retries or 0), kept=None if stays else _seconds(body, kind.kept) or 0)


def _seconds(body: Body, route: Route | None) -> int | None:
    value = follow(body, route) if route is not None else None
    return None if value is None else int(quantity.amount(str(value)))


class DeviceTime(Struct, frozen=True):
    """Upper bounds by accelerator. The name is empty for devices without one."""

    seconds: Mapping[str, int] = field(default_factory=dict)
    """Devices times the limit of the run time, of all parts with a limit."""
    unlimited: Mapping[str, int] = field(default_factory=dict)
    """Devices of parts without a limit."""

    def __add__(self, other: DeviceTime) -> DeviceTime:
        return DeviceTime(_sum(self.seconds, other.seconds), _sum(self.unlimited, other.unlimited))

    def times(self, number: int) -> DeviceTime:
        """The time of several equal parts."""
        seconds = {name: number * value for name, value in self.seconds.items()}
        return DeviceTime(seconds, {name: number * value for name, value in self.unlimited.items()})


def device_time(devices: Mapping[str, int], seconds: int | None) -> DeviceTime:
    """The time of devices that are all in use until the limit, which is None for unlimited."""
    if seconds is None:
        return DeviceTime(unlimited=devices)
    return DeviceTime({name: count * seconds for name, count in devices.items()})


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


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
        return as_mappings(self.spec.get("containers"))

    @property
    def init_containers(self) -> list[Body]:
        return as_mappings(self.spec.get("initContainers"))

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
    body, resource = runtimes.expanded(body, resource)
    run = str(at(body, "metadata", "name"))
    for found in pod_sets(resource, body):
        role = _role_of(body, found)
        name = found.of.pod_name if isinstance(found.of.pod_name, str) else found.of.pod_name(body, role)
        numbers = (range(int(str(count))) for count in found.counts)
        for number, indices in enumerate(islice(product(*numbers), _MOST)):
            yield CreatedPod(
                name=name.format(*indices, run=run, role=role.lower(), random=RANDOM),
                role=role.lower(),
                metadata=as_mapping(at(found.template, "metadata")),
                spec=_made(body, resource, role, number, as_mapping(at(found.template, "spec"))),
            )


def _role_of(body: Body, pods: Pods) -> str:
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
    for name in ("containers", "initContainers"):
        own, init = as_mappings(spec.get(name)), name != "containers"
        if env is not None:
            own = [
                {**one, "env": [*(one.get("env") or ()), *variables]}
                if (variables := env(PodOf(body, role, index, one, number == 0 and not init, init)))
                else one
                for number, one in enumerate(own)
            ]
        if found := [*own, *more.get(name, ())]:
            made[name] = found
    return made
