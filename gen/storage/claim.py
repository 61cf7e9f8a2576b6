"""Existing claim, referenced by name and never rendered."""

from __future__ import annotations

from typing import ClassVar

from gen.kubernetes import Body, present
from gen.model.names import ObjectName
from gen.storage.base import StorageProfile, Volume


class Claim(StorageProfile):
    """Existing PersistentVolumeClaim in the job's namespace."""

    short: ClassVar[str] = "name"

    name: ObjectName
    """Name of the claim."""

    def pod_source(self, volume: Volume) -> Body:
        return {"persistentVolumeClaim": present(claimName=self.name, readOnly=volume.read_only or None)}
