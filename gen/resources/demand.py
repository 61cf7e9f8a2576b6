"""The demand of an object, read from its pod templates: pods, GPUs and the limit of the run time."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from gen import quantity
from gen.kubernetes import ACCELERATOR_LABEL, at
from gen.regex import regex
from gen.resources import held_object, resource_of_object
from gen.resources.antichain import longest, widest
from gen.resources.claimed import claimed_devices
from gen.resources.device_time import DeviceTime, device_time
from gen.resources.graphs import graph_of
from gen.resources.pods import follow, matches, pod_sets, templates_by_shape
from gen.resources.run_time import run_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.resources.base import Nodes, Resource
    from gen.resources.steps import Task
    from gen.resources.trials import Held

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
    """Time of all parts together, for a run whose devices are not all in use until its end: steps and trials."""

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
        """The demand of equal runs, of which some are active at once and the others follow."""
        several = self.times(at_once)
        seconds = None if self.seconds is None else math.ceil(in_all / at_once) * self.seconds
        return Demand(several.pods, several.gpus, seconds, several.accelerators, self.time.times(in_all))


def demand(body: Body, kind: Resource, units: Units) -> Demand:
    """The demand of a run; `units` has the extended resources of each accelerator of the overlay.

    Devices that the overlay does not declare (any more) count one each. Raises ValueError for an amount that cannot be
    read.
    """
    if kind.holds is not None:
        return _held(body, kind.holds, units)
    if kind.steps:
        return _of_workflow(body, kind, units)
    every = {name: unit for one in units.values() for name, unit in one.items()}
    pods = gpus = 0
    accelerators: Counter[str] = Counter()
    for count, name, claimed, spec in _pods(body, kind):
        asked = count * (claimed + pod_devices(spec, unit_of({**every, **units.get(name, {})})))
        pods += count
        gpus += asked
        if name:
            accelerators[name] += asked
    return Demand(pods, gpus, run_time(body, kind), dict(accelerators))


def _held(body: Body, held: Held, units: Units) -> Demand:
    """The demand of the objects that an object makes. Their limits of the run time follow each other."""
    inner, count, total = (follow(body, route) for route in (held.route, held.at_once, held.in_all))
    resource = resource_of_object(at(inner, "apiVersion"), at(inner, "kind"))
    if resource is None or resource.holds is not None:
        return Demand()
    at_once = max(_whole_or(count, 1), 1)
    return demand(inner, resource, units).repeated(at_once, max(_whole_or(total, at_once), 1))


def _of_workflow(body: Body, kind: Resource, units: Units) -> Demand:
    """The widest moment of the steps, each with a pod that waits for it, and the time of the longest path."""
    tasks = graph_of(kind).tasks(body)
    return joined({task.name: task.needs for task in tasks}, {task.name: of_task(task, units) for task in tasks})


def of_task(task: Task, units: Units) -> Demand:
    resource = resource_of_object(task.body.get("apiVersion"), task.body.get("kind")) if task.body else None
    return Demand() if resource is None or task.body is None else demand(task.body, resource, units)


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


def _pods(body: Body, kind: Resource) -> Iterator[tuple[int, str, int, Any]]:
    """The pods of each template: their number, the name of their accelerator, which may be empty, the devices that each
    claims, and their spec.
    """
    for one in pod_sets(kind, body):
        name, claimed = _text(at(one.template, "metadata", "labels", ACCELERATOR_LABEL)), claimed_devices(one.template)
        yield math.prod(map(_whole, one.largest)), name, claimed, at(one.template, "spec")
    if kind.nodes is not None:
        count = follow(body, kind.nodes.count)
        labels = (found for route in kind.nodes.labels for _, found in matches(body, route))
        name = next((name for label in labels if (name := _text(at(label, ACCELERATOR_LABEL)))), "")
        yield 1 if count is None else _whole(count), name, 0, _node(kind.nodes, body)


def _node(nodes: Nodes, body: Body) -> Body:
    """The spec of a pod without a template: a container with its resources."""
    return {"containers": [{"resources": follow(body, nodes.resources)}]}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def unit_of(declared: Mapping[str, int]) -> Unit:
    """The amounts of declared resources, and of others that look like accelerators."""

    def unit(name: str) -> int | None:
        known = declared.get(name)
        return any_unit(name) if known is None and _PART.search(name) is None else known

    return unit


def any_demand(body: Body) -> Demand:
    """The least demand of an object of any kind and form. Every accelerator counts as a GPU."""
    resource = resource_of_object(body.get("apiVersion"), body.get("kind"))
    if resource is not None and resource.holds is not None:
        inner = follow(body, resource.holds.route)
        held = any_demand(inner) if isinstance(inner, dict) and held_object(inner) is None else Demand()
        return held.times(max(_whole_or(follow(body, resource.holds.at_once), 1), 1))
    sets = [(one.template, one.counts) for one in pod_sets(resource, body)] if resource is not None else []
    if not sets:
        sets = [(template, tuple(_counts(body, route))) for route, template in templates_by_shape(body)]
    pods = gpus = 0
    if resource is not None and resource.nodes is not None:
        pods = max(_whole_or(follow(body, resource.nodes.count), 1), 0)
        gpus = pods * _least(_node(resource.nodes, body))
    for template, counts in sets:
        number = math.prod(max(_whole_or(count, 1), 0) for count in counts)
        pods += number
        gpus += number * _least(at(template, "spec"))
    return Demand(pods, gpus)


def _least(spec: Any) -> int:
    """GPUs of a pod; none if an amount cannot be read, because the API server rejects the object."""
    try:
        return pod_devices(spec, any_unit)
    except (ValueError, OverflowError):
        return 0


def _counts(body: Body, route: Route) -> Iterator[Any]:
    """Numbers of replicas in the mappings around a template."""
    for length in range(len(route) + 1):
        holder = follow(body, route[:length])
        if isinstance(holder, dict):
            yield from (holder[name] for name in _REPLICAS if name in holder)


def _whole_or(value: Any, default: int) -> int:
    try:
        return _whole(value)
    except (ValueError, OverflowError):
        return default


def devices_in(amounts: Any, unit: Unit) -> dict[str, int]:
    """Whole devices in the capacity of a node, by resource."""
    found = amounts.items() if isinstance(amounts, dict) else ()
    sizes = {str(name): (_whole_or(amount, 0), size) for name, amount in found if (size := unit(str(name)))}
    return {name: amount // size for name, (amount, size) in sizes.items() if amount >= size}


def any_unit(name: str) -> int | None:
    return 1 if _ACCELERATOR.search(name) is not None else None


def pod_devices(spec: Any, unit: Unit) -> int:
    """Devices of a pod, as the scheduler counts: of all containers, or of a single init container if it has more."""
    always = first = 0
    for container in _list(at(spec, "initContainers")):
        if at(container, "restartPolicy") == "Always":
            always += _asked(container, unit)
        else:
            first = max(first, always + _asked(container, unit))
    return max(first, always + sum(_asked(container, unit) for container in _list(at(spec, "containers"))))


def _asked(container: Any, unit: Unit) -> int:
    wanted: dict[str, Any] = {}
    for kind in ("requests", "limits"):
        amounts = at(container, "resources", kind)
        wanted |= amounts if isinstance(amounts, dict) else {}
    return sum(math.ceil(_whole(amount) / size) for name, amount in wanted.items() if (size := unit(str(name))))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _whole(value: Any) -> int:
    return int(quantity.amount(str(value)))
