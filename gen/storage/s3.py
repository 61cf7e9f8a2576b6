"""Amazon S3 buckets, through Mountpoint. Suitable for datasets; files cannot be renamed or written at random.

Attributes: awslabs/mountpoint-s3-csi-driver, `docs/CONFIGURATION.md` and `examples/kubernetes/static_provisioning`.
Credentials are those of the driver or of the pod's ServiceAccount, never a Secret.
"""

from __future__ import annotations

from typing import Literal

from gen.kubernetes import Body, present
from gen.model.names import ObjectName
from gen.storage.base import StaticProfile, Volume, csi


class S3(StaticProfile):
    """Amazon S3 bucket. Set `prefix data/`, `region`, `allow-delete` or `allow-overwrite` in `mountOptions`."""

    bucket: ObjectName
    """Bucket name."""
    authentication_source: Literal["driver", "pod"] | None = None
    """Whose credentials are used: those of the driver, which is its default, or of the pod's ServiceAccount."""

    def persistent_source(self, volume: Volume) -> Body:
        attributes = present(bucketName=self.bucket, authenticationSource=self.authentication_source)
        return csi("s3.csi.aws.com", volume, attributes)
