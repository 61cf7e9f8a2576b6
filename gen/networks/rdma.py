"""RDMA devices that the pods of a node share, through a device plugin.

The resource's name is the cluster's own choice (`rdma/hca` on ACK, `rdma/hca_shared_devices_a`,
`rdma/rdma_shared_device_a`, `aliyun/erdma`, `tke.cloud.tencent.com/tke-shared-rdma`), and its count is a share.
"""

from __future__ import annotations

import re
from typing import Annotated, ClassVar

from pydantic import WithJsonSchema

from gen.model.names import EnvName, ResourceName
from gen.model.scalars import Positive, Text, matching
from gen.networks.base import Effect, NetworkProfile

Capability = Annotated[
    str,
    matching(re.compile(r"[A-Z][A-Z_]{1,40}"), 41, "a Linux capability", "write it like `IPC_LOCK`, without `CAP_`"),
    WithJsonSchema({"title": "capability", "type": "string"}),
]


class RDMA(NetworkProfile):
    """RDMA through a resource of the node."""

    short: ClassVar[str] = "resource"

    resource: ResourceName
    """Name of the resource that the device plugin offers."""
    count: Positive = 1
    """How many of it each training pod asks for."""
    capabilities: tuple[Capability, ...] = ("IPC_LOCK",)
    """Capabilities for pinned memory; Lingjun nodes want `SYS_RESOURCE` too."""
    env: dict[EnvName, Text] = {}
    """NCCL settings of the fabric, such as `NCCL_IB_HCA`, where a job does not set them itself."""

    def effect(self) -> Effect:
        return Effect(resources={self.resource: str(self.count)}, capabilities=self.capabilities, env=self.env)
