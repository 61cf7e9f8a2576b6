"""A claim that the cluster provisions by itself. Its data lives as long as the class's reclaim policy says."""

from __future__ import annotations

from typing import ClassVar

from gen.kubernetes import Body
from gen.model.names import ObjectName
from gen.storage.base import ClaimedProfile, Volume, persistent_volume_claim


class StorageClass(ClaimedProfile):
    """A volume that a StorageClass provisions; use a class that retains its volumes."""

    short: ClassVar[str] = "name"

    name: ObjectName
    """Name of the StorageClass."""

    def objects(self, volume: Volume) -> tuple[Body, ...]:
        return (persistent_volume_claim(volume, self.name),)
