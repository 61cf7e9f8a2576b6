"""Registry of storage profiles, one file each. See `docs/extending.md`."""

from __future__ import annotations

from typing import Final

from gen.model.registry import LazyRegistry
from gen.storage.base import StorageProfile, Volume

STORAGE: Final[LazyRegistry[StorageProfile]] = LazyRegistry(
    {
        "azureBlob": "gen.storage.azure_blob:AzureBlob",
        "azureFile": "gen.storage.azure_file:AzureFile",
        "azureLustre": "gen.storage.azure_lustre:AzureLustre",
        "cephfs": "gen.storage.cephfs:CephFS",
        "cfs": "gen.storage.cfs:CFS",
        "claim": "gen.storage.claim:Claim",
        "cos": "gen.storage.cos:COS",
        "cpfs": "gen.storage.cpfs:CPFS",
        "csi": "gen.storage.csi:CSI",
        "efs": "gen.storage.efs:EFS",
        "emptyDir": "gen.storage.empty_dir:EmptyDir",
        "filestore": "gen.storage.filestore:Filestore",
        "fluid": "gen.storage.fluid:Fluid",
        "fsxLustre": "gen.storage.fsx_lustre:FSxLustre",
        "gcsFuse": "gen.storage.gcs_fuse:GCSFuse",
        "hostPath": "gen.storage.host_path:HostPath",
        "juicefs": "gen.storage.juicefs:JuiceFS",
        "local": "gen.storage.local:Local",
        "nas": "gen.storage.nas:NAS",
        "nfs": "gen.storage.nfs:NFS",
        "oss": "gen.storage.oss:OSS",
        "s3": "gen.storage.s3:S3",
        "storageClass": "gen.storage.storage_class:StorageClass",
    }
)

__all__ = ["STORAGE", "StorageProfile", "Volume"]
