"""Registry of storage profiles, one file each. See `docs/extending.md`."""

from __future__ import annotations

from typing import Final

from gen.storage.base import StorageProfile, Volume
from gen.storage.cfs import CFS
from gen.storage.claim import Claim
from gen.storage.cos import COS
from gen.storage.cpfs import CPFS
from gen.storage.empty_dir import EmptyDir
from gen.storage.host_path import HostPath
from gen.storage.nas import NAS
from gen.storage.nfs import NFS
from gen.storage.oss import OSS
from gen.storage.storage_class import StorageClass

STORAGE: Final[dict[str, type[StorageProfile]]] = {
    "cfs": CFS,
    "claim": Claim,
    "cos": COS,
    "cpfs": CPFS,
    "emptyDir": EmptyDir,
    "hostPath": HostPath,
    "nas": NAS,
    "nfs": NFS,
    "oss": OSS,
    "storageClass": StorageClass,
}

__all__ = ["STORAGE", "StorageProfile", "Volume"]
