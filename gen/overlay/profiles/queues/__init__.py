"""Registry of the schedulers of queues, one file each. See `docs/extending.md`."""

from __future__ import annotations

from typing import Final

from gen.base import LazyRegistry
from gen.job.queue import QueueProfile
from gen.kubernetes.facts.base import Resource

QUEUES: Final[LazyRegistry[QueueProfile]] = LazyRegistry(
    {
        "ack": "gen.overlay.profiles.queues.coscheduling:Ack",
        "coscheduling": "gen.overlay.profiles.queues.coscheduling:Coscheduling",
        "kueue": "gen.overlay.profiles.queues.kueue:Kueue",
        "volcano": "gen.overlay.profiles.queues.volcano:Volcano",
        "yunikorn": "gen.overlay.profiles.queues.yunikorn:YuniKorn",
    }
)


def scheduler_of(profile: QueueProfile) -> str:
    """The name of a profile in overlays."""
    return next(name for name, model in QUEUES.loaded().items() if isinstance(profile, model))


def undeclared(name: str, facts: Resource) -> QueueProfile | None:
    """The queue with this name in the cluster, for an overlay that declares no queues. None if no scheduler has one."""
    if facts.scheduler is not None:
        return QUEUES[facts.scheduler].named(name)
    return QUEUES["kueue"].named(name) if facts.kueue is not None else None


__all__ = ["QUEUES", "QueueProfile", "scheduler_of", "undeclared"]
