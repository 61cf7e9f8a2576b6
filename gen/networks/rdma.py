"""Shared RDMA devices, through a device plugin.

The cluster defines the resource name (`rdma/hca` on ACK, `rdma/hca_shared_devices_a`,
`rdma/rdma_shared_device_a`, `aliyun/erdma`, `tke.cloud.tencent.com/tke-shared-rdma`). The count is a number of shares.
"""

from __future__ import annotations

import re
from typing import Annotated, ClassVar

from pydantic import WithJsonSchema

from gen.model.effect import Effect
from gen.model.names import EnvName, ResourceName
from gen.model.scalars import Positive, Text, matching
from gen.networks.base import NetworkProfile

Capability = Annotated[
    str,
    matching(re.compile(r"[A-Z][A-Z_]{1,40}"), 41, "a Linux capability", "use a form like `IPC_LOCK`, without `CAP_`"),
    WithJsonSchema({"title": "capability name", "type": "string"}),
]


class RDMA(NetworkProfile):
    """RDMA devices, requested as an extended resource."""

    short: ClassVar[str] = "resource"

    resource: ResourceName
    """Extended resource of the device plugin."""
    count: Positive = 1
    """Number of devices to request per training pod."""
    capabilities: tuple[Capability, ...] = ("IPC_LOCK",)
    """Linux capabilities for pinned memory. Lingjun nodes also require `SYS_RESOURCE`."""
    env: dict[EnvName, Text] = {}
    """NCCL settings of the fabric, such as `NCCL_IB_HCA`. A job can override them."""

    def effect(self) -> Effect:
        return Effect(resources={self.resource: str(self.count)}, capabilities=self.capabilities, env=self.env)
