"""Google Cloud Storage buckets, through FUSE, and Filestore, through their CSI drivers. Buckets are for datasets.

Buckets: GoogleCloudPlatform/gcs-fuse-csi-driver, `docs/known-issues.md`, `docs/authentication.md` and
`pkg/csi_driver/utils.go`. The handle is the bucket, with a different suffix for each volume of the same bucket (#559).
Filestore: kubernetes-sigs/gcp-filestore-csi-driver, `docs/kubernetes/pre-provisioned-pv.md`.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Mapping
from typing import Annotated

from gen.base import regex
from gen.job.names import Label, ObjectName
from gen.job.scalars import Text, Truth, matching, schema
from gen.kubernetes.objects import Body, present
from gen.overlay.profiles.storage import StaticProfile, Volume, csi

Bucket = Annotated[
    str,
    matching(
        regex(r"[a-z0-9][-a-z0-9_.]{1,220}[a-z0-9]"),
        222,
        "the name of a bucket",
        "write it without `gs://`",
        form=schema("name of a bucket", "string"),
    ),
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


class Filestore(StaticProfile):
    """Share of a Google Cloud Filestore instance."""

    instance: Label
    """Name of the instance."""
    location: Label
    """Zone of the instance, or region for regional tiers."""
    ip: ObjectName
    """Address of the instance."""
    share: Text
    """Name of the share, such as `vol1`."""

    def persistent_source(self, volume: Volume) -> Body:
        attributes = {"ip": self.ip, "volume": self.share}
        handle = f"modeInstance/{self.location}/{self.instance}/{self.share}"
        return csi("filestore.csi.storage.gke.io", volume, attributes, handle=handle)
