"""Tencent Cloud CFS. Attributes: TencentCloud/kubernetes-csi-tencentcloud, `docs/README_CFS.md` and `driver/cfs`."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from gen.kubernetes import Body, present
from gen.model.names import MountPath
from gen.model.scalars import Text, conflict
from gen.storage.base import StaticProfile, Volume, csi
from gen.storage.nas import Server


class CFS(StaticProfile):
    """Tencent Cloud CFS, mounted through its CSI driver."""

    host: Server
    """Address of the mount target in the VPC of the cluster."""
    path: MountPath = "/"
    """Directory on the file system."""
    vers: Literal["3", "4"] | None = None
    """NFS version. The driver defaults to 4, or to 3 if `fsid` is set."""
    fsid: Text | None = None
    """Mount ID of the file system, required for version 3. Not the `cfs-…` ID."""

    @model_validator(mode="after")
    def _version_3_needs_fsid(self) -> Self:
        if self.vers == "3" and self.fsid is None:
            raise conflict("`vers: 3` requires `fsid`", "set `fsid` to the mount ID shown in the console")
        return self

    def persistent_source(self, volume: Volume) -> Body:
        attributes = present(host=self.host, path=self.path, vers=self.vers, fsid=self.fsid)
        return csi("com.tencent.cloud.csi.cfs", volume, attributes)
