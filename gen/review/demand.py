"""What a run asks for, read from its object alone: pods, GPUs, and for how long at most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gen import quantity
from gen.diagnostics import Location
from gen.kubernetes import at

if TYPE_CHECKING:
    from gen.diagnostics import Findings
    from gen.kinds import Job
    from gen.review.rendered_object import Item

_GPUS = frozenset({"nvidia.com/gpu", "amd.com/gpu"})
"""What counts as GPUs beside an overlay's `gpu.resource`."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What a run asks for while it is active."""

    pods: int = 0
    gpus: int = 0
    seconds: int | None = None
    """After how long it is ended; None when it may go on for ever."""

    @property
    def gpu_hours(self) -> float | None:
        """At most; None when there is no end to it."""
        if self.gpus == 0:
            return 0.0
        return None if self.seconds is None else self.gpus * self.seconds / 3600


def demand(item: Item, kind: type[Job], resource: str | None, found: Findings) -> Demand:
    """What a run's object asks for; `resource` is the overlay's name for GPUs."""
    names = _GPUS | {resource} if resource else _GPUS
    pods = gpus = 0
    spec = at(item.outline, "spec")
    try:
        for replicas, template in kind.pods_of(spec if isinstance(spec, dict) else {}):
            count = 1 if replicas is None else _whole(replicas)
            pods += count
            gpus += count * _pod_gpus(at(template, "spec"), names)
        seconds = at(item.outline, *kind.deadline)
        return Demand(pods, gpus, None if seconds is None else _whole(seconds))
    except ValueError as error:
        message = f"what {item.key.object} asks for cannot be told: {error}"
        found.error("unknown-usage", Location(item.path), message, "run `gen render`, which writes the file anew")
        return Demand()


def _pod_gpus(spec: Any, names: frozenset[str]) -> int:
    """As the scheduler counts: containers together, or an init container if that alone asks for more."""
    always = first = 0
    for container in _list(at(spec, "initContainers")):
        if at(container, "restartPolicy") == "Always":
            always += _asked(container, names)
        else:
            first = max(first, always + _asked(container, names))
    return max(first, always + sum(_asked(container, names) for container in _list(at(spec, "containers"))))


def _asked(container: Any, names: frozenset[str]) -> int:
    wanted: dict[str, Any] = {}
    for field in ("requests", "limits"):
        amounts = at(container, "resources", field)
        wanted |= amounts if isinstance(amounts, dict) else {}
    return sum(_whole(amount) for name, amount in wanted.items() if name in names)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _whole(value: Any) -> int:
    return int(quantity.amount(str(value)))
