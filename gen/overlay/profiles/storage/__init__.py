"""Registry of storage profiles, one file each. See `docs/extending.md`."""

from __future__ import annotations

from typing import Final

from gen.base import LazyRegistry
from gen.overlay.profiles.storage.base import StorageProfile, Volume

STORAGE: Final[LazyRegistry[StorageProfile]] = LazyRegistry(
    {
        "azureBlob": "gen.overlay.profiles.storage.azure:AzureBlob",
        "azureFile": "gen.overlay.profiles.storage.azure:AzureFile",
        "azureLustre": "gen.overlay.profiles.storage.azure:AzureLustre",
        "cephfs": "gen.overlay.profiles.storage.cephfs:CephFS",
        "cfs": "gen.overlay.profiles.storage.tencent:CFS",
        "claim": "gen.overlay.profiles.storage.builtin:Claim",
        "cos": "gen.overlay.profiles.storage.tencent:COS",
        "cpfs": "gen.overlay.profiles.storage.alibaba:CPFS",
        "csi": "gen.overlay.profiles.storage.builtin:CSI",
        "efs": "gen.overlay.profiles.storage.aws:EFS",
        "emptyDir": "gen.overlay.profiles.storage.builtin:EmptyDir",
        "filestore": "gen.overlay.profiles.storage.google:Filestore",
        "fluid": "gen.overlay.profiles.storage.fluid:Fluid",
        "fsxLustre": "gen.overlay.profiles.storage.aws:FSxLustre",
        "gcsFuse": "gen.overlay.profiles.storage.google:GCSFuse",
        "hostPath": "gen.overlay.profiles.storage.builtin:HostPath",
        "juicefs": "gen.overlay.profiles.storage.juicefs:JuiceFS",
        "local": "gen.overlay.profiles.storage.builtin:Local",
        "nas": "gen.overlay.profiles.storage.alibaba:NAS",
        "nfs": "gen.overlay.profiles.storage.builtin:NFS",
        "oss": "gen.overlay.profiles.storage.alibaba:OSS",
        "s3": "gen.overlay.profiles.storage.aws:S3",
        "storageClass": "gen.overlay.profiles.storage.builtin:StorageClass",
    }
)

__all__ = ["STORAGE", "StorageProfile", "Volume"]
