"""Tencent Cloud COS buckets. Suitable for datasets; checkpoints and event files need a POSIX file system.

Attributes: TencentCloud/kubernetes-csi-tencentcloud, `driver/cosfs/util.go`. The driver rejects the mounter `lite`,
although its own example uses it.
"""

from __future__ import annotations

from typing import Literal

from gen.kubernetes import Body, present
from gen.model.names import MountPath, ObjectName
from gen.model.scalars import Text
from gen.storage.base import StaticProfile, Volume, csi


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
            url=self.url,
            bucket=self.bucket,
            path=self.path,
            mounter=self.mounter,
            additional_args=self.additional_args,
        )
        return csi("com.tencent.cloud.csi.cosfs", volume, attributes, secret=self.secret)
