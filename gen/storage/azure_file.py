"""Azure Files shares over SMB or NFS, through their CSI driver.

Attributes: kubernetes-sigs/azurefile-csi-driver, `docs/driver-parameters.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from gen.model.names import Label
from gen.storage.azure import AzureStorage

if TYPE_CHECKING:
    from gen.kubernetes import Body


class AzureFile(AzureStorage):
    """Azure Files share."""

    driver: ClassVar[str] = "file.csi.azure.com"

    share: Label
    """Name of the share, without a directory."""
    protocol: Literal["smb", "nfs"] = "smb"
    """`nfs` requires a premium account and a private or service endpoint."""

    @property
    def is_nfs(self) -> bool:
        return self.protocol == "nfs"

    @property
    def own_attributes(self) -> Body:
        protocol = {"protocol": "nfs"} if self.is_nfs else {}
        return {"shareName": self.share, **protocol}
