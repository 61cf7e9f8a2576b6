"""Any CSI driver, by the fields of the `csi` source of a PersistentVolume."""

from __future__ import annotations

from gen.kubernetes import Body
from gen.model.names import ObjectName
from gen.model.scalars import Text
from gen.storage.base import StaticProfile, Volume, csi


class CSI(StaticProfile):
    """Existing volume of any CSI driver."""

    driver: ObjectName
    """Name of the driver."""
    handle: Text | None = None
    """Handle of the volume. [default: the name of the PersistentVolume, which is different in each namespace]"""
    attributes: dict[Text, Text] = {}
    """Attributes of the volume."""
    fs_type: Text | None = None
    """Type of the file system."""
    secret: ObjectName | None = None
    """Secret in the job's namespace for the mount into a pod (`nodePublishSecretRef`)."""
    stage_secret: ObjectName | None = None
    """Secret in the job's namespace for the mount on a node (`nodeStageSecretRef`)."""

    def persistent_source(self, volume: Volume) -> Body:
        return csi(
            self.driver,
            volume,
            dict(sorted(self.attributes.items())),
            handle=self.handle,
            fs_type=self.fs_type,
            secret=self.secret,
            stage_secret=self.stage_secret,
        )
