"""Gang scheduling of ACK: labels of pods, for which the scheduler of a managed Pro cluster makes a PodGroup.

From "Use Gang scheduling" of the ACK documentation. All pods of a group need the same priority.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gen.queues.base import LimitedGang, Member, PodChanges, Run

if TYPE_CHECKING:
    from collections.abc import Mapping

_GROUP = "pod-group.scheduling.sigs.k8s.io"


class Ack(LimitedGang):
    """Gang scheduling of ACK, by the default scheduler. All pods of a run start together, or none."""

    known_as: ClassVar[str] = "ack"
    keys: ClassVar[tuple[str, ...]] = (_GROUP,)

    @property
    def settings(self) -> Mapping[str, Any]:
        return {}

    def joined(self, run: Run, member: Member) -> PodChanges:
        if not member.grouped:
            return PodChanges()
        return PodChanges(labels={f"{_GROUP}/name": run.name, f"{_GROUP}/min-available": str(self.size(run))})
