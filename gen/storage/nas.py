"""Alibaba Cloud NAS, through its CSI driver, which replaced the FlexVolume `alicloud/nas`.

Attributes: kubernetes-sigs/alibaba-cloud-csi-driver, `pkg/nas/nodeserver.go` and `utils.go`.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import model_validator

from gen.kubernetes import Body, present
from gen.model.names import MountPath
from gen.model.scalars import conflict, matching
from gen.model.validators import JsonForm
from gen.regex import regex
from gen.storage.base import StaticProfile, Volume, csi

Server = Annotated[
    str,
    matching(
        regex(r"[A-Za-z0-9][-A-Za-z0-9.]*"),
        253,
        "a host name or an IP address",
        "move the directory to `path`",
    ),
    JsonForm({"title": "host name or address", "type": "string"}),
]
OctalMode = Annotated[
    str,
    matching(regex(r"[0-7]{3}"), 3, "three octal digits", "use a form like `755`"),
    JsonForm({"title": "octal digits", "type": ["string", "integer"]}),
]


class NAS(StaticProfile):
    """Alibaba Cloud NAS, mounted through its CSI driver."""

    server: Server
    """Mount target in the VPC of the cluster, such as `0123-abc.cn-hangzhou.nas.aliyuncs.com`."""
    path: MountPath = "/"
    """Directory on the file system. The driver creates it if it is missing."""
    vers: Literal["3", "4.0", "4.1"] | None = None
    """NFS version. The driver defaults to 3."""
    mode: OctalMode | None = None
    """Permissions to set on the directory at each mount. Not supported for `/`."""
    mode_type: Literal["recursive", "non-recursive"] | None = None
    """Whether to set `mode` recursively, which is slow for large directory trees."""

    @model_validator(mode="after")
    def _mode_needs_a_directory(self) -> Self:
        if self.mode is not None and self.path == "/":
            raise conflict("`mode` is not supported for `path: /`", "remove `mode`, or set `path` to a directory")
        if self.mode_type is not None and self.mode is None:
            raise conflict("`modeType` has no effect without `mode`", "add `mode`, such as `755`, or remove `modeType`")
        return self

    def persistent_source(self, volume: Volume) -> Body:
        attributes = present(
            server=self.server, path=self.path, vers=self.vers, mode=self.mode, modeType=self.mode_type
        )
        return csi("nasplugin.csi.alibabacloud.com", volume, attributes)
