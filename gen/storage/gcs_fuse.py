"""Google Cloud Storage buckets, through FUSE. Suitable for datasets.

Facts: GoogleCloudPlatform/gcs-fuse-csi-driver, `docs/known-issues.md`, `docs/authentication.md` and
`pkg/csi_driver/utils.go`. The handle is the bucket, with a suffix that tells volumes of the same bucket apart (#559).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from gen.kubernetes import Body, present
from gen.model.scalars import Truth, matching
from gen.model.validators import JsonForm
from gen.regex import regex
from gen.storage.base import StaticProfile, Volume, csi

if TYPE_CHECKING:
    from collections.abc import Mapping

Bucket = Annotated[
    str,
    matching(regex(r"[a-z0-9][-a-z0-9_.]{1,220}[a-z0-9]"), 222, "the name of a bucket", "write it without `gs://`"),
    JsonForm({"title": "name of a bucket", "type": "string"}),
]


class GCSFuse(StaticProfile):
    """Google Cloud Storage bucket. The ServiceAccount of the pods needs access to it."""

    bucket: Bucket
    """Bucket name. Set `implicit-dirs` or `only-dir=data` in `mountOptions`."""
    host_network: Truth = False
    """Support pods on the host network, from version 1.17.2 of the driver."""
    skip_access_check: Truth = False
    """Do not verify the access before the mount."""

    @property
    def for_host_network(self) -> str:
        return "" if self.host_network else "set `hostNetwork: true` of the volume"

    @property
    def pod_annotations(self) -> Mapping[str, str]:
        # a webhook adds the sidecar that mounts the bucket; without it, the pod never starts
        return {"gke-gcsfuse/volumes": "true"}

    def persistent_source(self, volume: Volume) -> Body:
        attributes = present(
            hostNetworkPodKSA="true" if self.host_network else None,
            skipCSIBucketAccessCheck="true" if self.skip_access_check else None,
        )
        handle = f"{self.bucket}:{volume.persistent_volume}"
        return csi("gcsfuse.csi.storage.gke.io", volume, attributes, handle=handle)
