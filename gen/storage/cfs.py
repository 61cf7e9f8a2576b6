"""Tencent Cloud CFS. Attributes: TencentCloud/kubernetes-csi-tencentcloud, `docs/README_CFS.md` and `driver/cfs`."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from gen.kubernetes import Body, present
from gen.model.names import MountPath
from gen.model.scalars import Text, refuse
from gen.storage.base import StaticProfile, Volume, csi
from gen.storage.nas import Server


class CFS(StaticProfile):
    """Tencent Cloud CFS, mounted through its CSI driver."""

    host: Server
    """Address of the mount target, in the cluster's VPC."""
    path: MountPath = "/"
    """Directory on the file system."""
    vers: Literal["3", "4"] | None = None
    """NFS version; the driver takes 4, or 3 when `fsid` is given."""
    fsid: Text | None = None
    """Mount id of the file system, which version 3 needs; not the `cfs-…` id."""

    @model_validator(mode="after")
    def _version_3_needs_fsid(self) -> Self:
        if self.vers == "3" and self.fsid is None:
            raise refuse("given `fsid` with `vers: 3`", self.vers, "add the mount id that the console shows")
        return self

    def persistent_source(self, volume: Volume) -> Body:
        attributes = present(host=self.host, path=self.path, vers=self.vers, fsid=self.fsid)
        return csi("com.tencent.cloud.csi.cfs", volume, attributes)
