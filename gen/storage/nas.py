"""Alibaba Cloud NAS through its CSI driver, which took the place of the FlexVolume `alicloud/nas`.

Attributes: kubernetes-sigs/alibaba-cloud-csi-driver, `pkg/nas/nodeserver.go` and `utils.go`.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import WithJsonSchema, model_validator

from gen.kubernetes import Body, present
from gen.model.names import MountPath
from gen.model.scalars import matching, refuse
from gen.storage.base import StaticProfile, Volume, csi

Server = Annotated[
    str,
    matching(
        re.compile(r"[A-Za-z0-9][-A-Za-z0-9.]*"),
        253,
        "a host name or an address",
        "put the directory into `path`",
    ),
    WithJsonSchema({"title": "host name or address", "type": "string"}),
]
OctalMode = Annotated[
    str,
    matching(re.compile(r"[0-7]{3}"), 3, "three octal digits", "write it like `755`"),
    WithJsonSchema({"title": "octal digits", "type": ["string", "integer"]}),
]


class NAS(StaticProfile):
    """Alibaba Cloud NAS, mounted through its CSI driver."""

    server: Server
    """Mount target, such as `0123-abc.cn-hangzhou.nas.aliyuncs.com`, in the cluster's VPC."""
    path: MountPath = "/"
    """Directory on the file system; it is made when it is missing."""
    vers: Literal["3", "4.0", "4.1"] | None = None
    """NFS version; the driver takes 3."""
    mode: OctalMode | None = None
    """Permissions that the directory is set to at each mount; not possible for `/`."""
    mode_type: Literal["recursive", "non-recursive"] | None = None
    """Whether `mode` is set on everything below as well, which takes long on a large tree."""

    @model_validator(mode="after")
    def _mode_needs_a_directory(self) -> Self:
        if self.mode is not None and self.path == "/":
            raise refuse(
                "without `mode` while `path` is `/`",
                self.mode,
                "remove `mode`, or name a directory in `path`",
            )
        return self

    def persistent_source(self, volume: Volume) -> Body:
        attributes = present(
            server=self.server, path=self.path, vers=self.vers, mode=self.mode, modeType=self.mode_type
        )
        return csi("nasplugin.csi.alibabacloud.com", volume, attributes)
