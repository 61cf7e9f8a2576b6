"""Azure Managed Lustre, through its CSI driver.

Attributes: kubernetes-sigs/azurelustre-csi-driver, `docs/driver-parameters.md` and `docs/examples/pv.yaml`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from gen.kubernetes import present
from gen.model.names import Label, MountPath
from gen.storage.base import StaticProfile, Volume, csi
from gen.storage.nas import Server

if TYPE_CHECKING:
    from gen.kubernetes import Body


class AzureLustre(StaticProfile):
    """Azure Managed Lustre file system."""

    mount_options: ClassVar[tuple[str, ...]] = ("noatime", "flock")

    server: Server
    """Address of the management service, from the *Client connection* page of the file system."""
    file_system: Label = "lustrefs"
    """Internal name of the file system, which older drivers require."""
    path: MountPath | None = None
    """Directory in the file system, which the driver creates."""

    def persistent_source(self, volume: Volume) -> Body:
        sub_directory = self.path.lstrip("/") if self.path is not None else None
        attributes = present(**{"mgs-ip-address": self.server, "fs-name": self.file_system, "sub-dir": sub_directory})
        return csi("azurelustre.csi.azure.com", volume, attributes)
