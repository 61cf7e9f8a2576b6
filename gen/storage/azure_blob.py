"""Azure Blob containers over FUSE or NFS, through their CSI driver. Suitable for datasets.

Attributes: kubernetes-sigs/blob-csi-driver, `docs/driver-parameters.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from gen.model.names import Label
from gen.storage.azure import AzureStorage

if TYPE_CHECKING:
    from gen.kubernetes import Body


class AzureBlob(AzureStorage):
    """Azure Blob container."""

    driver: ClassVar[str] = "blob.csi.azure.com"

    container: Label
    """Name of the container."""
    protocol: Literal["fuse", "fuse2", "nfs"] = "fuse2"
    """Client: blobfuse, blobfuse2, or NFS 3 in the kernel."""

    @property
    def is_nfs(self) -> bool:
        return self.protocol == "nfs"

    @property
    def own_attributes(self) -> Body:
        return {"containerName": self.container, "protocol": self.protocol}
