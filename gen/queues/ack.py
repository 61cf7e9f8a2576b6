"""Gang scheduling of ACK: labels of pods, for which the scheduler of a managed Pro cluster makes a PodGroup.

From "Use Gang scheduling" of the ACK documentation. All pods of a group need the same priority.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gen.model.scalars import Positive
from gen.queues.base import Gang, Member, PodChanges, Run

if TYPE_CHECKING:
    from collections.abc import Mapping

_GROUP = "pod-group.scheduling.sigs.k8s.io"


class Ack(Gang):
    """Gang scheduling of ACK, by the default scheduler. All pods of a run start together, or none."""

    known_as: ClassVar[str] = "ack"
    keys: ClassVar[tuple[str, ...]] = (_GROUP,)

    min_available: Positive | None = None
    """Pods of a run that must start together, or all if it has fewer. [default: all]"""

    @property
    def settings(self) -> Mapping[str, Any]:
        return {}

    @property
    def least(self) -> int | None:
        return self.min_available

    def joined(self, run: Run, member: Member) -> PodChanges:
        if not member.grouped:
            return PodChanges()
        return PodChanges(labels={f"{_GROUP}/name": run.name, f"{_GROUP}/min-available": str(self.size(run))})
