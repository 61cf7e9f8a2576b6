"""Amazon EFS, through its CSI driver.

Handle and attributes: kubernetes-sigs/aws-efs-csi-driver, `pkg/driver/node.go` (`parseVolumeId`) and `docs/README.md`.
Version 3 also takes `efs:fs-…`, earlier ones only the plain form.
"""

from __future__ import annotations

from typing import Annotated

from gen.kubernetes import Body
from gen.model.names import MountPath
from gen.model.scalars import Truth, matching
from gen.model.validators import JsonForm
from gen.regex import regex
from gen.storage.base import StaticProfile, Volume, csi

FileSystem = Annotated[
    str,
    matching(regex(r"fs-[0-9a-f]{8,40}"), 43, "the ID of a file system", "use a form like `fs-0123456789abcdef0`"),
    JsonForm({"title": "ID of a file system", "type": "string"}),
]
AccessPoint = Annotated[
    str,
    matching(
        regex(r"fsap-[0-9a-f]{8,40}"), 45, "the ID of an access point", "use a form like `fsap-0123456789abcdef0`"
    ),
    JsonForm({"title": "ID of an access point", "type": "string"}),
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
