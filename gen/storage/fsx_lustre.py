"""Amazon FSx for Lustre, through its CSI driver.

Attributes: kubernetes-sigs/aws-fsx-csi-driver, `examples/kubernetes/static_provisioning`. Nodes need port 988.
"""

from __future__ import annotations

from typing import ClassVar

from gen.kubernetes import Body
from gen.model.names import ObjectName
from gen.model.scalars import Text
from gen.storage.base import StaticProfile, Volume, csi
from gen.storage.efs import FileSystem


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
