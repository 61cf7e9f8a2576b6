"""Azure Blob containers over FUSE or NFS, through their CSI driver. Suitable for datasets.

Attributes: kubernetes-sigs/blob-csi-driver, `docs/driver-parameters.md`.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from gen.kubernetes import Body, present
from gen.model.names import Label, ObjectName
from gen.model.scalars import Text, conflict
from gen.storage.base import StaticProfile, Volume, csi


class AzureBlob(StaticProfile):
    """Azure Blob container."""

    container: Label
    """Name of the container."""
    protocol: Literal["fuse", "fuse2", "nfs"] = "fuse2"
    """Client: blobfuse, blobfuse2, or NFS 3 in the kernel."""
    account: Label | None = None
    """Storage account. Required with `nfs`."""
    resource_group: Text | None = None
    """Resource group of the account. [default: the one of the cluster]"""
    server: ObjectName | None = None
    """Address of the account, for private endpoints."""
    secret: ObjectName | None = None
    """With FUSE: Secret in the job's namespace with the keys `azurestorageaccountname` and `azurestorageaccountkey`."""

    @model_validator(mode="after")
    def _identity(self) -> Self:
        if (self.protocol == "nfs") == (self.secret is not None):
            raise conflict("`secret` is required with FUSE, and unused with `nfs`", "set `secret`, or `protocol: nfs`")
        if self.protocol == "nfs" and self.account is None:
            raise conflict("`account` is required with `nfs`", "set `account` to the storage account")
        return self

    def persistent_source(self, volume: Volume) -> Body:
        attributes = present(
            containerName=self.container,
            protocol=self.protocol,
            storageAccount=self.account,
            resourceGroup=self.resource_group,
            server=self.server,
        )
        return csi("blob.csi.azure.com", volume, attributes, stage_secret=self.secret)
