"""Amazon S3 buckets through Mountpoint, EFS, and FSx for Lustre, through their CSI drivers.

- S3: awslabs/mountpoint-s3-csi-driver, `docs/CONFIGURATION.md` and `examples/kubernetes/static_provisioning`. For
  datasets: files cannot be renamed or written at random. Credentials are those of the driver or of the pod's
  ServiceAccount, never a Secret.
- EFS: kubernetes-sigs/aws-efs-csi-driver, `pkg/driver/node.go` (`parseVolumeId`) and `docs/README.md`. Version 3 also
  takes `efs:fs-…`, earlier ones only the plain form.
- FSx: kubernetes-sigs/aws-fsx-csi-driver, `examples/kubernetes/static_provisioning`. Nodes need port 988.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from typing import Annotated, ClassVar, Literal

from gen.base import regex
from gen.job.names import MountPath, ObjectName
from gen.job.scalars import Text, Truth, matching, schema
from gen.kubernetes.objects import Body, present
from gen.overlay.profiles.storage import StaticProfile, Volume, csi


class S3(StaticProfile):
    """Amazon S3 bucket. Set `prefix data/`, `region`, `allow-delete` or `allow-overwrite` in `mountOptions`."""

    bucket: ObjectName
    """Bucket name."""
    authentication_source: Literal["driver", "pod"] | None = None
    """Whose credentials are used: those of the driver, which is its default, or of the pod's ServiceAccount."""

    def persistent_source(self, volume: Volume) -> Body:
        attributes = present(bucketName=self.bucket, authenticationSource=self.authentication_source)
        return csi("s3.csi.aws.com", volume, attributes)


FileSystem = Annotated[
    str,
    matching(
        regex(r"fs-[0-9a-f]{8,40}"),
        43,
        "the ID of a file system",
        "use a form like `fs-0123456789abcdef0`",
        form=schema("ID of a file system", "string"),
    ),
]
AccessPoint = Annotated[
    str,
    matching(
        regex(r"fsap-[0-9a-f]{8,40}"),
        45,
        "the ID of an access point",
        "use a form like `fsap-0123456789abcdef0`",
        form=schema("ID of an access point", "string"),
    ),
]


class EFS(StaticProfile):
    """Amazon EFS file system. The size is a label."""

    file_system: FileSystem
    """ID of the file system."""
    path: MountPath | None = None
    """Existing directory on the file system. [default: its root, or that of the access point]"""
    access_point: AccessPoint | None = None
    """Access point, which sets the user and group of all files: changing the owner of a file fails."""
    encrypt_in_transit: Truth = True
    """Use TLS."""

    def persistent_source(self, volume: Volume) -> Body:
        parts = [self.file_system, self.path or "", self.access_point or ""]
        attributes = {} if self.encrypt_in_transit else {"encryptInTransit": "false"}
        return csi("efs.csi.aws.com", volume, attributes, handle=":".join(parts).rstrip(":"))


class FSxLustre(StaticProfile):
    """Amazon FSx for Lustre file system."""

    mount_options: ClassVar[tuple[str, ...]] = ("flock",)

    file_system: FileSystem
    """ID of the file system."""
    dns_name: ObjectName
    """DNS name, such as `fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com`."""
    mount_name: Text
    """Mount name, which the console shows, such as `fsx`."""

    def persistent_source(self, volume: Volume) -> Body:
        attributes = {"dnsname": self.dns_name, "mountname": self.mount_name}
        return csi("fsx.csi.aws.com", volume, attributes, handle=self.file_system)
