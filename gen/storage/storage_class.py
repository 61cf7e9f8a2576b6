"""Dynamically provisioned claim. The reclaim policy of the StorageClass decides how long data is kept."""

from __future__ import annotations

from typing import ClassVar

from gen.kubernetes import Body
from gen.model.names import ObjectName
from gen.storage.base import ClaimedProfile, Volume, persistent_volume_claim


class StorageClass(ClaimedProfile):
    """Volume provisioned by a StorageClass. Use a class with the reclaim policy `Retain`."""

    short: ClassVar[str] = "name"

    name: ObjectName
    """Name of the StorageClass."""

    def objects(self, volume: Volume) -> tuple[Body, ...]:
        return (persistent_volume_claim(volume, self.name),)
