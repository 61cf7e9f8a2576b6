"""Azure Files shares over SMB or NFS, through their CSI driver.

Attributes: kubernetes-sigs/azurefile-csi-driver, `docs/driver-parameters.md`.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from gen.kubernetes import Body, present
from gen.model.names import Label, ObjectName
from gen.model.scalars import Text, conflict
from gen.storage.base import StaticProfile, Volume, csi


class AzureFile(StaticProfile):
    """Azure Files share."""

    share: Label
    """Name of the share, without a directory."""
    protocol: Literal["smb", "nfs"] = "smb"
    """`nfs` requires a premium account and a private or service endpoint."""
    account: Label | None = None
    """Storage account. Required with `nfs`."""
    resource_group: Text | None = None
    """Resource group of the account. [default: the one of the cluster]"""
    server: ObjectName | None = None
    """Address of the account, for private endpoints."""
    secret: ObjectName | None = None
    """With `smb`: Secret in the job's namespace with `azurestorageaccountname` and `azurestorageaccountkey`."""

    @model_validator(mode="after")
    def _identity(self) -> Self:
        if (self.protocol == "smb") != (self.secret is not None):
            raise conflict("`secret` is required with `smb`, and unused with `nfs`", "set `secret`, or `protocol: nfs`")
        if self.protocol == "nfs" and self.account is None:
            raise conflict("`account` is required with `nfs`", "set `account` to the storage account")
        return self

    def persistent_source(self, volume: Volume) -> Body:
        attributes = present(
            shareName=self.share,
            protocol="nfs" if self.protocol == "nfs" else None,
            storageAccount=self.account,
            resourceGroup=self.resource_group,
            server=self.server,
        )
        return csi("file.csi.azure.com", volume, attributes, stage_secret=self.secret)
