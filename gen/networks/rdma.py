"""Shared RDMA devices, through a device plugin.

The cluster defines the resource name (`rdma/hca` on ACK, `rdma/hca_shared_devices_a`,
`rdma/rdma_shared_device_a`, `aliyun/erdma`, `tke.cloud.tencent.com/tke-shared-rdma`). The count is a number of shares.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from gen.model.effect import Effect
from gen.model.names import ResourceName
from gen.model.scalars import Positive, matching
from gen.model.validators import JsonForm
from gen.networks.base import PINNED_MEMORY, Fabric
from gen.regex import regex

Capability = Annotated[
    str,
    matching(regex(r"[A-Z][A-Z_]{1,40}"), 41, "a Linux capability", "use a form like `IPC_LOCK`, without `CAP_`"),
    JsonForm({"title": "capability name", "type": "string"}),
]


class RDMA(Fabric):
    """RDMA devices, requested as an extended resource."""

    short: ClassVar[str] = "resource"

    resource: ResourceName
    """Extended resource of the device plugin."""
    count: Positive = 1
    """Number of devices to request per training pod."""
    capabilities: tuple[Capability, ...] = PINNED_MEMORY
    """Linux capabilities for pinned memory. Lingjun nodes also require `SYS_RESOURCE`."""

    def effect(self, gpus: int) -> Effect:  # noqa: ARG002 - a number of shares
        return Effect(resources={self.resource: str(self.count)}, capabilities=self.capabilities)
