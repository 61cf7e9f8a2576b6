"""Tencent Cloud CFS, and COS buckets for datasets; checkpoints and event files need a POSIX file system.

TencentCloud/kubernetes-csi-tencentcloud, `docs/README_CFS.md`, `driver/cfs` and `driver/cosfs/util.go`. The driver
rejects the mounter `lite`, although its own example uses it.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from typing import Literal, Self

from pydantic import model_validator

from gen.job.names import MountPath, ObjectName
from gen.job.scalars import Text, conflict
from gen.kubernetes.objects import Body, present
from gen.overlay.profiles.storage import Server, StaticProfile, Volume, csi


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


class COS(StaticProfile):
    """Tencent Cloud COS bucket."""

    bucket: Text
    """Bucket name including the application ID, `name-1250000000`."""
    url: Text
    """Endpoint of the region, such as `http://cos.ap-guangzhou.myqcloud.com`."""
    path: MountPath = "/"
    """Directory in the bucket."""
    secret: ObjectName
    """Secret in the job's namespace with the keys `SecretId` and `SecretKey`."""
    mounter: Literal["cosfs", "goosefs-lite"] = "cosfs"
    """FUSE client."""
    additional_args: Text | None = None
    """Options of cosfs, such as `-oallow_other`."""

    def persistent_source(self, volume: Volume) -> Body:
        attributes = present(
            url=self.url, bucket=self.bucket, path=self.path, mounter=self.mounter, additional_args=self.additional_args
        )
        return csi("com.tencent.cloud.csi.cosfs", volume, attributes, secret=self.secret)
