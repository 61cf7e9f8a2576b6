"""A claim that somebody else keeps: referenced by name, never rendered."""

from __future__ import annotations

from typing import ClassVar

from gen.kubernetes import Body, present
from gen.model.names import ObjectName
from gen.storage.base import StorageProfile, Volume


class Claim(StorageProfile):
    """A PersistentVolumeClaim that exists already in the job's namespace."""

    short: ClassVar[str] = "name"

    name: ObjectName
    """Name of the claim."""

    def pod_source(self, volume: Volume) -> Body:
        return {"persistentVolumeClaim": present(claimName=self.name, readOnly=volume.read_only or None)}
