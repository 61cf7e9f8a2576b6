"""Networks without a provider: the host network, and shared RDMA devices through a device plugin.

The baseline Pod Security Standard forbids the host network, so a namespace needs a grant. The cluster defines the
resource name of RDMA devices (`rdma/hca` on ACK, `rdma/hca_shared_devices_a`, `rdma/rdma_shared_device_a`,
`aliyun/erdma`, `tke.cloud.tencent.com/tke-shared-rdma`). The count is a number of shares.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from typing import Annotated, ClassVar

from gen.base import regex
from gen.job.names import ResourceName
from gen.job.profile import Effect
from gen.job.scalars import Positive, Truth, matching, schema
from gen.overlay.profiles.networks import PINNED_MEMORY, Fabric, NetworkProfile

Capability = Annotated[
    str,
    matching(
        regex(r"[A-Z][A-Z_]{1,40}"),
        41,
        "a Linux capability",
        "use a form like `IPC_LOCK`, without `CAP_`",
        form=schema("capability name", "string"),
    ),
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

    def effect(self, gpus: int) -> Effect:
        return Effect(resources={self.resource: str(self.count)}, capabilities=self.capabilities)


class HostNetwork(NetworkProfile):
    """Host network of the node: no isolation, ports shared with the node."""

    short: ClassVar[str] = "enabled"
    grant: ClassVar[str] = "hostNetwork"

    enabled: Truth
    """Use the host network."""

    def effect(self, gpus: int) -> Effect:
        return Effect(host_network=self.enabled, spread=self.enabled)
