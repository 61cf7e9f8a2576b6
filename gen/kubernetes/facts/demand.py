"""Requested resources of an object and of its steps: pods, GPUs, devices by claims, and the limit of the run time."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct, field

from gen.base import Route, as_list, as_mapping, at, follow, regex
from gen.kubernetes import quantity
from gen.kubernetes.facts import held_object, resource_of_object
from gen.kubernetes.facts.base import Held, Resource
from gen.kubernetes.facts.graphs import ancestors, graph_of, longest, widest
from gen.kubernetes.facts.pods import DeviceTime, device_time, pod_sets, run_time, templates_by_shape
from gen.kubernetes.facts.runtimes import NO_RUNTIMES, Runtimes
from gen.kubernetes.facts.steps import Task
from gen.kubernetes.objects import ACCELERATOR_LABEL, DEVICES_LABEL, Body

_COUNT: Final = regex(r"[0-9]{1,6}")


def claimed_devices(pod: object) -> int:
    """Devices that a pod gets by claims. Their number is not in its `spec`."""
    text = at(pod, "metadata", "labels", DEVICES_LABEL)
    return int(text) if isinstance(text, str) and _COUNT.fullmatch(text) and at(pod, "spec", "resourceClaims") else 0


Units = Mapping[str, Mapping[str, int]]
"""By accelerator: extended resources, with the amount that is one device."""
Unit = Callable[[str], int | None]
"""The amount of an extended resource that is one device; None for other resources."""

_REPLICAS = ("replicas", "minReplicas", "parallelism", "numWorkers", "workers", "count")
"""Common names of fields that multiply the pods of a template."""
_ACCELERATOR: Final = regex(r"/.*(?:gpu|mig-|npu|dcu|mlu|tpu|xpu|gaudi|neuron|ascend|vcuda)", re.IGNORECASE)
"""Names of extended resources for accelerators of any vendor."""
_PART: Final = regex(r"/.*(?:mem|percentage|-core|gpucore)", re.IGNORECASE)
"""Names of extended resources for the memory or the cores of an accelerator, such as `nvidia.com/gpumem`."""


class Demand(Struct, frozen=True):
    """Pods and GPUs of a run while it is active."""

    pods: int = 0
    gpus: int = 0
    """GPUs, and devices and shares of other accelerators."""
    seconds: int | None = None
    """Limit of the run time; None for unlimited."""
    accelerators: Mapping[str, int] = field(default_factory=dict)
    """GPUs by accelerator, for those with a name."""
    parts: DeviceTime | None = None
    """Time of all parts together, for a run with devices that are not all in use until its end: steps and trials."""

    def times(self, number: int) -> Demand:
        """The demand of several equal runs at once."""
        named = {name: number * count for name, count in self.accelerators.items()}
        parts = self.parts.times(number) if self.parts is not None else None
        return Demand(number * self.pods, number * self.gpus, self.seconds, named, parts)

    @property
    def most(self) -> dict[str, int]:
        """GPUs at once by accelerator. The name is empty for those without one."""
        rest = self.gpus - sum(self.accelerators.values())
        return {**self.accelerators, **({"": rest} if rest > 0 else {})}

    @property
    def time(self) -> DeviceTime:
        """Upper bound of the time that GPUs are in use."""
        return self.parts if self.parts is not None else device_time(self.most, self.seconds)

    @property
    def gpu_hours(self) -> float | None:
        """Upper bound; None if the run time has no limit."""
        time = self.time
        return None if any(time.unlimited.values()) else sum(time.seconds.values()) / 3600

    def repeated(self, at_once: int, in_all: int) -> Demand:
        """The demand of equal runs: some are active at once, and the others follow."""
        several = self.times(at_once)
        seconds = None if self.seconds is None else math.ceil(in_all / at_once) * self.seconds
        return Demand(several.pods, several.gpus, seconds, several.accelerators, self.time.times(in_all))


def demand(body: Body, kind: Resource, units: Units, runtimes: Runtimes = NO_RUNTIMES) -> Demand:
    """The demand of a run; `units` has the extended resources of each accelerator of the overlay.

    Devices that the overlay does not declare (any more) count one each. Raises ValueError for an amount that cannot be
    read.
    """
    if kind.holds is not None:
        return _held(body, kind.holds, units, runtimes)
    if kind.steps:
        return _of_workflow(body, kind, units, runtimes)
    every = {name: unit for one in units.values() for name, unit in one.items()}
    pods = gpus = 0
    accelerators: Counter[str] = Counter()
    for count, name, claimed, spec in _pods(body, kind, runtimes):
        asked = count * (claimed + pod_devices(spec, unit_of({**every, **units.get(name, {})})))
        pods += count
        gpus += asked
        if name:
            accelerators[name] += asked
    return Demand(pods, gpus, run_time(body, kind), dict(accelerators))


def _held(body: Body, held: Held, units: Units, runtimes: Runtimes) -> Demand:
    """The demand of the objects that an object makes. Their limits of the run time follow each other."""
    inner, count, total = (follow(body, route) for route in (held.route, held.at_once, held.in_all))
    resource = resource_of_object(at(inner, "apiVersion"), at(inner, "kind"))
    if resource is None or resource.holds is not None:
        return Demand()
    at_once = max(_whole_or(count, 1), 1)
    return demand(inner, resource, units, runtimes).repeated(at_once, max(_whole_or(total, at_once), 1))


def _of_workflow(body: Body, kind: Resource, units: Units, runtimes: Runtimes) -> Demand:
    """The widest moment of the steps, each with a pod that waits for it, and the time of the longest path."""
    tasks = graph_of(kind).tasks(body)
    demands = {task.name: of_task(task, units, runtimes) for task in tasks}
    return joined({task.name: task.needs for task in tasks}, demands)


def of_task(task: Task, units: Units, runtimes: Runtimes) -> Demand:
    resource = resource_of_object(task.body.get("apiVersion"), task.body.get("kind")) if task.body else None
    return Demand() if resource is None or task.body is None else demand(task.body, resource, units, runtimes)


def joined(needs: Mapping[str, frozenset[str]], demands: Mapping[str, Demand]) -> Demand:
    """The demand of steps that wait for each other."""

    def most(values: Mapping[str, int]) -> int:
        return widest(needs, values)

    names = {name for one in demands.values() for name in one.accelerators}
    working = {step: one for step, one in demands.items() if one.pods}
    return Demand(
        most({step: one.pods + 1 for step, one in working.items()}),
        most({step: one.gpus for step, one in demands.items()}),
        longest(needs, {step: one.seconds for step, one in working.items()}),
        {name: most({step: one.accelerators.get(name, 0) for step, one in demands.items()}) for name in sorted(names)},
        sum((one.time for one in demands.values()), DeviceTime()),
    )


def _pods(body: Body, kind: Resource, runtimes: Runtimes) -> Iterator[tuple[int, str, int, Any]]:
    """The pods of each template: their number, the name of their accelerator, which may be empty, the devices that each
    claims, and their spec.
    """
    body, kind = runtimes.expanded(body, kind)
    for one in pod_sets(kind, body):
        name, claimed = _text(at(one.template, "metadata", "labels", ACCELERATOR_LABEL)), claimed_devices(one.template)
        yield math.prod(map(_whole, one.largest)), name, claimed, at(one.template, "spec")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def unit_of(declared: Mapping[str, int]) -> Unit:
    """The amounts of declared resources, and of others that look like accelerators."""

    def unit(name: str) -> int | None:
        known = declared.get(name)
        return any_unit(name) if known is None and not _is_part(name) else known

    return unit


def any_demand(body: Body) -> Demand:
    """The least demand of an object of any kind and form. Every accelerator counts as a GPU."""
    resource = resource_of_object(body.get("apiVersion"), body.get("kind"))
    if resource is not None and resource.holds is not None:
        inner = follow(body, resource.holds.route)
        held = any_demand(inner) if isinstance(inner, dict) and held_object(inner) is None else Demand()
        return held.times(max(_whole_or(follow(body, resource.holds.at_once), 1), 1))
    if resource is not None:
        body, resource = NO_RUNTIMES.expanded(body, resource)
    sets = [(one.template, one.counts) for one in pod_sets(resource, body)] if resource is not None else []
    if not sets:
        sets = [(template, tuple(_counts(body, route))) for route, template in templates_by_shape(body)]
    pods = gpus = 0
    for template, counts in sets:
        number = math.prod(max(_whole_or(count, 1), 0) for count in counts)
        pods += number
        gpus += number * _least(at(template, "spec"))
    return Demand(pods, gpus)


def _least(spec: object) -> int:
    """GPUs of a pod; none if an amount cannot be read, because the API server rejects the object."""
    try:
        return pod_devices(spec, any_unit)
    except (ValueError, OverflowError):
        return 0


def _counts(body: Body, route: Route) -> Iterator[object]:
    """Numbers of replicas in the mappings around a template."""
    for length in range(len(route) + 1):
        holder = follow(body, route[:length])
        if isinstance(holder, dict):
            yield from (holder[name] for name in _REPLICAS if name in holder)


def _whole_or(value: object, default: int) -> int:
    try:
        return _whole(value)
    except (ValueError, OverflowError):
        return default


def devices_in(amounts: object, unit: Unit) -> dict[str, int]:
    """Whole devices in the capacity of a node, by resource."""
    found = amounts.items() if isinstance(amounts, dict) else ()
    sizes = {str(name): (_whole_or(amount, 0), size) for name, amount in found if (size := unit(str(name)))}
    return {name: amount // size for name, (amount, size) in sizes.items() if amount >= size}


def _is_part(name: str) -> bool:
    return _PART.search(name) is not None


def any_unit(name: str) -> int | None:
    return 1 if _ACCELERATOR.search(name) is not None else None


def pod_devices(spec: object, unit: Unit) -> int:
    """Devices of a pod, as the scheduler counts: of all containers, or of a single init container if it has more."""
    always = first = 0
    for container in as_list(at(spec, "initContainers")):
        if at(container, "restartPolicy") == "Always":
            always += _asked(container, unit)
        else:
            first = max(first, always + _asked(container, unit))
    return max(first, always + sum(_asked(container, unit) for container in as_list(at(spec, "containers"))))


def _asked(container: object, unit: Unit) -> int:
    wanted: dict[str, Any] = {}
    for kind in ("requests", "limits"):
        wanted |= as_mapping(at(container, "resources", kind))
    return sum(math.ceil(_whole(amount) / size) for name, amount in wanted.items() if (size := unit(str(name))))


def _whole(value: object) -> int:
    return int(quantity.amount(str(value)))


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


def step_demands(body: Body, kind: Resource, units: Units, runtimes: Runtimes = NO_RUNTIMES) -> tuple[StepDemand, ...]:
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
            demand=of_task(task, units, runtimes),
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
