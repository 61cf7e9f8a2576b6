"""What volumes in storage accounts of Azure have in common: the account, and how the driver gets access to it."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Self

from pydantic import model_validator

from gen.kubernetes import Body, present
from gen.model.names import Label, ObjectName
from gen.model.scalars import Text, conflict
from gen.storage.base import StaticProfile, Volume, csi


class AzureStorage(StaticProfile):
    """Volume in a storage account. Only NFS has no Secret: the driver authenticates by the network."""

    driver: ClassVar[str]

    account: Label | None = None
    """Storage account. Required with `nfs`."""
    resource_group: Text | None = None
    """Resource group of the account. [default: the one of the cluster]"""
    server: ObjectName | None = None
    """Address of the account, for private endpoints."""
    secret: ObjectName | None = None
    """Except with `nfs`: Secret in the job's namespace with `azurestorageaccountname` and `azurestorageaccountkey`."""

    @property
    @abstractmethod
    def is_nfs(self) -> bool:
        """Whether the nodes mount it over NFS."""

    @property
    @abstractmethod
    def own_attributes(self) -> Body:
        """Attributes of this driver only."""

    @model_validator(mode="after")
    def _identity(self) -> Self:
        if self.is_nfs == (self.secret is not None):
            message = "`secret` is required without `nfs`, and unused with `nfs`"
            raise conflict(message, "set `secret`, or `protocol: nfs`")
        if self.is_nfs and self.account is None:
            raise conflict("`account` is required with `nfs`", "set `account` to the storage account")
        return self

    def persistent_source(self, volume: Volume) -> Body:
        attributes = present(
            **self.own_attributes, storageAccount=self.account, resourceGroup=self.resource_group, server=self.server
        )
        return csi(self.driver, volume, attributes, stage_secret=self.secret)
