"""Registry of the schedulers of queues, one file each. See `docs/extending.md`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.queues.ack import Ack
from gen.queues.base import QueueProfile
from gen.queues.coscheduling import Coscheduling
from gen.queues.kueue import Kueue
from gen.queues.volcano import Volcano
from gen.queues.yunikorn import YuniKorn

if TYPE_CHECKING:
    from gen.resources.base import Resource

QUEUES: Final[dict[str, type[QueueProfile]]] = {
    "ack": Ack,
    "coscheduling": Coscheduling,
    "kueue": Kueue,
    "volcano": Volcano,
    "yunikorn": YuniKorn,
}


def scheduler_of(profile: QueueProfile) -> str:
    """The name of a profile in overlays."""
    return next(name for name, model in QUEUES.items() if isinstance(profile, model))


def undeclared(name: str, facts: Resource) -> QueueProfile | None:
    """The queue with this name in the cluster, for an overlay that declares no queues. None if no scheduler has one."""
    if facts.scheduler is not None:
        return QUEUES[facts.scheduler].named(name)
    return Kueue.named(name) if facts.kueue is not None else None


__all__ = ["QUEUES", "QueueProfile", "scheduler_of", "undeclared"]
