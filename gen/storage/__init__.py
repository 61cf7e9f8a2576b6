"""Registry of storage profiles, one file each. See `docs/extending.md`."""

from __future__ import annotations

from typing import Final

from gen.storage.azure_blob import AzureBlob
from gen.storage.azure_file import AzureFile
from gen.storage.azure_lustre import AzureLustre
from gen.storage.base import StorageProfile, Volume
from gen.storage.cephfs import CephFS
from gen.storage.cfs import CFS
from gen.storage.claim import Claim
from gen.storage.cos import COS
from gen.storage.cpfs import CPFS
from gen.storage.csi import CSI
from gen.storage.efs import EFS
from gen.storage.empty_dir import EmptyDir
from gen.storage.filestore import Filestore
from gen.storage.fluid import Fluid
from gen.storage.fsx_lustre import FSxLustre
from gen.storage.gcs_fuse import GCSFuse
from gen.storage.host_path import HostPath
from gen.storage.juicefs import JuiceFS
from gen.storage.local import Local
from gen.storage.nas import NAS
from gen.storage.nfs import NFS
from gen.storage.oss import OSS
from gen.storage.s3 import S3
from gen.storage.storage_class import StorageClass

STORAGE: Final[dict[str, type[StorageProfile]]] = {
    "azureBlob": AzureBlob,
    "azureFile": AzureFile,
    "azureLustre": AzureLustre,
    "cephfs": CephFS,
    "cfs": CFS,
    "claim": Claim,
    "cos": COS,
    "cpfs": CPFS,
    "csi": CSI,
    "efs": EFS,
    "emptyDir": EmptyDir,
    "filestore": Filestore,
    "fluid": Fluid,
    "fsxLustre": FSxLustre,
    "gcsFuse": GCSFuse,
    "hostPath": HostPath,
    "juicefs": JuiceFS,
    "local": Local,
    "nas": NAS,
    "nfs": NFS,
    "oss": OSS,
    "s3": S3,
    "storageClass": StorageClass,
}

__all__ = ["STORAGE", "StorageProfile", "Volume"]
