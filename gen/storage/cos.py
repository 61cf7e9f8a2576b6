"""Tencent Cloud COS buckets. Good for datasets; checkpoints and event files need a POSIX file system.

Attributes: TencentCloud/kubernetes-csi-tencentcloud, `driver/cosfs/util.go`. The driver refuses the mounter `lite`
that its own example shows.
"""

from __future__ import annotations

from typing import Literal

from gen.kubernetes import Body, present
from gen.model.names import MountPath, ObjectName
from gen.model.scalars import Text
from gen.storage.base import StaticProfile, Volume, csi


class COS(StaticProfile):
    """A Tencent Cloud COS bucket."""

    bucket: Text
    """Name of the bucket with its application id, `name-1250000000`."""
    url: Text
    """Endpoint of the region, such as `http://cos.ap-guangzhou.myqcloud.com`."""
    path: MountPath = "/"
    """Directory in the bucket."""
    secret: ObjectName
    """Secret of the job's namespace with the keys `SecretId` and `SecretKey`."""
    mounter: Literal["cosfs", "goosefs-lite"] = "cosfs"
    """Client."""
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
