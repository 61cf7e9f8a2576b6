"""Google Cloud Filestore, through its CSI driver.

Handle and attributes: kubernetes-sigs/gcp-filestore-csi-driver, `docs/kubernetes/pre-provisioned-pv.md`.
"""

from __future__ import annotations

from gen.kubernetes import Body
from gen.model.names import Label, ObjectName
from gen.model.scalars import Text
from gen.storage.base import StaticProfile, Volume, csi


class Filestore(StaticProfile):
    """Share of a Google Cloud Filestore instance."""

    instance: Label
    """Name of the instance."""
    location: Label
    """Zone of the instance, or region for regional tiers."""
    ip: ObjectName
    """Address of the instance."""
    share: Text
    """Name of the share, such as `vol1`."""

    def persistent_source(self, volume: Volume) -> Body:
        attributes = {"ip": self.ip, "volume": self.share}
        handle = f"modeInstance/{self.location}/{self.instance}/{self.share}"
        return csi("filestore.csi.storage.gke.io", volume, attributes, handle=handle)
