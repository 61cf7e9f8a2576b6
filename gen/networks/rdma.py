"""RDMA devices that the pods of a node share, through a device plugin.

The resource's name is the cluster's own choice (`rdma/hca` on ACK, `rdma/hca_shared_devices_a`,
`rdma/rdma_shared_device_a`, `aliyun/erdma`, `tke.cloud.tencent.com/tke-shared-rdma`), and its count is a share.
"""

from __future__ import annotations

from typing import ClassVar

from gen.model.scalars import Positive, Text
from gen.networks.base import Effect, NetworkProfile


class RDMA(NetworkProfile):
    """RDMA through a resource of the node."""

    short: ClassVar[str] = "resource"

    resource: Text
    """Name of the resource that the device plugin offers."""
    count: Positive = 1
    """How many of it each training pod asks for."""
    capabilities: tuple[Text, ...] = ("IPC_LOCK",)
    """Capabilities for pinned memory; Lingjun nodes want `SYS_RESOURCE` too."""
    env: dict[str, Text] = {}
    """NCCL settings of the fabric, such as `NCCL_IB_HCA`, where a job does not set them itself."""

    def effect(self) -> Effect:
        return Effect(resources={self.resource: str(self.count)}, capabilities=self.capabilities, env=self.env)
