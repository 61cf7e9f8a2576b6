"""The demand of a run, read from its object: pods, GPUs and the limit of the run time."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from gen import quantity
from gen.diagnostics import Location
from gen.findings.rendered import UNKNOWN_USAGE
from gen.kubernetes import ACCELERATOR_LABEL, at
from gen.resources import resource_of_object
from gen.resources.pods import follow, pod_sets, templates_by_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gen.diagnostics import Findings, Route
    from gen.kubernetes import Body
    from gen.resources.base import Nodes, Resource
    from gen.review.rendered_object import RenderedObject

    Units = Mapping[str, Mapping[str, int]]
    """By accelerator: extended resources, with the amount that is one device."""
    Unit = Callable[[str], int | None]
    """The amount of an extended resource that is one device; None for other resources."""

_GPUS: Final[Mapping[str, int]] = {"nvidia.com/gpu": 1, "amd.com/gpu": 1}
"""Resources that count as GPUs, in addition to those of the overlay."""
_REPLICAS = ("replicas", "minReplicas", "parallelism", "numWorkers", "workers", "count")
"""Common names of fields that multiply the pods of a template."""


_ACCELERATOR = re.compile(r"/.*(?:gpu|mig-|npu|dcu|mlu|tpu|xpu|gaudi|neuron|ascend|vcuda)", re.IGNORECASE)
"""Names of extended resources for accelerators of any vendor."""


@dataclass(frozen=True, slots=True)
class Demand:
    """Pods and GPUs of a run while it is active."""

    pods: int = 0
    gpus: int = 0
    """GPUs, and devices and shares of other accelerators."""
    seconds: int | None = None
    """Limit of the run time; None for unlimited."""
    accelerators: Mapping[str, int] = field(default_factory=dict)
    """GPUs by accelerator, for those with a name."""

    @property
    def gpu_hours(self) -> float | None:
        """Upper bound; None if the run time has no limit."""
        if self.gpus == 0:
            return 0.0
        return None if self.seconds is None else self.gpus * self.seconds / 3600


def demand(run: RenderedObject, kind: Resource, units: Units, found: Findings) -> Demand:
    """The demand of a run; `units` has the extended resources of each accelerator of the overlay."""
    every = {**_GPUS, **{name: unit for one in units.values() for name, unit in one.items()}}
    pods = gpus = 0
    accelerators: Counter[str] = Counter()
    try:
        for one in pod_sets(kind, run.outline):
            count = math.prod(map(_whole, one.largest))
            pods += count
            name = at(one.template, "metadata", "labels", ACCELERATOR_LABEL)
            own = units.get(name, every) if isinstance(name, str) else every
            asked = count * _pod_gpus(at(one.template, "spec"), own.get)
            gpus += asked
            if isinstance(name, str):
                accelerators[name] += asked
        if kind.nodes is not None:
            nodes, resources = _nodes(kind.nodes, run.outline)
            pods += nodes
            gpus += nodes * _asked({"resources": resources}, every.get)
        seconds = None if kind.deadline is None else at(run.outline, *kind.deadline)
        return Demand(pods, gpus, None if seconds is None else _whole(seconds), dict(accelerators))
    except ValueError as error:
        message = f"cannot read the demand of {run.key}: {error}"
        found.error(UNKNOWN_USAGE, Location(run.path), message, "run `gen render` to write the file again")
        return Demand()


def _nodes(nodes: Nodes, body: Body) -> tuple[int, Any]:
    """The number of pods without a template, and the resources of each."""
    count = follow(body, nodes.count)
    return 1 if count is None else _whole(count), follow(body, nodes.resources)


def any_demand(body: Body) -> Demand:
    """The least demand of an object of any kind and form. Every accelerator counts as a GPU."""
    resource = resource_of_object(body.get("apiVersion"), body.get("kind"))
    sets = [(one.template, one.counts) for one in pod_sets(resource, body)] if resource is not None else []
    if not sets:
        sets = [(template, tuple(_counts(body, route))) for route, template in templates_by_shape(body)]
    pods = gpus = 0
    if resource is not None and resource.nodes is not None:
        pods = max(_whole_or(follow(body, resource.nodes.count), 1), 0)
        gpus = pods * _asked({"resources": follow(body, resource.nodes.resources)}, _any_unit)
    for template, counts in sets:
        number = math.prod(max(_whole_or(count, 1), 0) for count in counts)
        pods += number
        gpus += number * _pod_gpus(at(template, "spec"), _any_unit)
    return Demand(pods, gpus)


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


def _any_unit(name: str) -> int | None:
    return 1 if _ACCELERATOR.search(name) is not None else None


def _pod_gpus(spec: Any, unit: Unit) -> int:
    """As the scheduler counts: the sum of the containers, or a single init container if it requests more."""
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
