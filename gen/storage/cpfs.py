"""Alibaba Cloud CPFS (general purpose), through the NAS driver with another protocol. Static volumes only.

Source: kubernetes-sigs/alibaba-cloud-csi-driver, `pkg/nas/utils.go`, and its README on the removed `cpfsplugin`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from gen.kubernetes import Body
from gen.model.names import PATH
from gen.model.scalars import matching
from gen.model.validators import JsonForm
from gen.regex import regex
from gen.storage.base import StaticProfile, Volume, csi
from gen.storage.nas import Server

SharePath = Annotated[
    str,
    matching(regex(rf"/share(?:{PATH})*"), 4096, "a path below `/share`", "CPFS exports nothing else"),
    JsonForm({"title": "path below /share", "type": "string", "pattern": "^/share"}),
]


class CPFS(StaticProfile):
    """Alibaba Cloud CPFS, mounted through the NAS driver."""

    server: Server
    """Mount target of the protocol service in the VPC of the cluster."""
    path: SharePath = "/share"
    """Directory below `/share`."""
    protocol: Literal["cpfs-nfs", "efc"] = "cpfs-nfs"
    """Client: NFS in the kernel, or Alibaba Cloud's EFC."""

    def persistent_source(self, volume: Volume) -> Body:
        attributes = {"server": self.server, "path": self.path, "mountProtocol": self.protocol}
        return csi("nasplugin.csi.alibabacloud.com", volume, attributes)
