"""The scheduler of queues `hive`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gen.job.names import Label
from gen.job.queue import Gang, Member, PodChanges, Run

if TYPE_CHECKING:
    from collections.abc import Mapping


class Hive(Gang):
    """A hive, which starts all bees together."""

    short: ClassVar[str] = "name"
    known_as: ClassVar[str] = "hive"
    keys: ClassVar[tuple[str, ...]] = ("hive.acme.example.com/",)

    name: Label
    """Name of the hive."""

    @property
    def scheduler_name(self) -> str:
        return "hive"

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"queue": self.name}

    def joined(self, run: Run, member: Member) -> PodChanges:
        labels = {"hive.acme.example.com/name": self.name, "hive.acme.example.com/role": member.role}
        return PodChanges(
            scheduler="hive", labels=labels, annotations={"hive.acme.example.com/size": str(self.size(run))}
        )
