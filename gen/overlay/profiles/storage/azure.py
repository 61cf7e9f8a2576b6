"""Azure Blob containers, Azure Files shares and Azure Managed Lustre, through their CSI drivers.

Attributes: `docs/driver-parameters.md` of kubernetes-sigs/blob-csi-driver, azurefile-csi-driver and
azurelustre-csi-driver, and `docs/examples/pv.yaml` of the last. Blob containers are for datasets.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from abc import abstractmethod
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from gen.job.names import Label, MountPath, ObjectName
from gen.job.scalars import Text, conflict
from gen.kubernetes.objects import Body, present
from gen.overlay.profiles.storage import Server, StaticProfile, Volume, csi


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


class AzureBlob(AzureStorage):
    """Azure Blob container."""

    driver: ClassVar[str] = "blob.csi.azure.com"

    @property
    def own_options(self) -> tuple[str, ...]:
        """Without it, only the user that mounts can read (`deploy/example/pv-blobfuse-csi.yaml` of the driver)."""
        return () if self.is_nfs else ("-o allow_other",)

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
