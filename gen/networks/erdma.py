"""Elastic RDMA (eRDMA) on ECS instances of Alibaba Cloud.

AliyunContainerService/alibabacloud-erdma-controller: `README.md` for the resource and SMC-R, whose webhook is off by
default; `docs/erdma-benchmark/` for the settings of NCCL. The GID index differs between interfaces.
"""

from __future__ import annotations

import ipaddress
from typing import Annotated, Any, ClassVar

from gen.model.effect import Effect
from gen.model.scalars import Positive, Truth, refuse
from gen.model.validators import Before, JsonForm
from gen.networks.base import PINNED_MEMORY, Fabric


def _range(value: Any) -> Any:
    try:
        return str(ipaddress.ip_network(value))
    except ValueError:
        raise refuse("a range of addresses", value, "use a form like `192.168.0.0/16`") from None


AddressRange = Annotated[str, Before(_range), JsonForm({"title": "range of addresses", "type": "string"})]


class Erdma(Fabric):
    """Elastic RDMA (eRDMA) on ACK. The image needs the eRDMA provider of libibverbs."""

    excludes: ClassVar[frozenset[str]] = frozenset({"hostNetwork"})
    platform: ClassVar[str] = "Alibaba Cloud"

    count: Positive = 1
    """Number of devices to request per training pod."""
    address_range: AddressRange | None = None
    """Addresses of the interfaces with eRDMA, for instances with other RDMA interfaces."""
    smcr: Truth = False
    """Use eRDMA for TCP connections, too, through SMC-R. The webhook of the eRDMA controller must be enabled, and adds
    a privileged init container."""

    def effect(self, gpus: int) -> Effect:  # noqa: ARG002 - the same for every pod
        env = {
            "NCCL_SOCKET_IFNAME": "eth0",
            "NCCL_IB_HCA": ",".join(f"erdma_{index}" for index in range(self.count)),
            "NCCL_IB_GID_INDEX": "-1",
            "NCCL_IB_ADDR_FAMILY": "AF_INET",
            "NCCL_IB_ROCE_VERSION_NUM": "2",
            "NCCL_NET_GDR_LEVEL": "SYS",
        }
        if self.address_range is not None:
            env["NCCL_IB_ADDR_RANGE"] = self.address_range
        return Effect(
            resources={"aliyun/erdma": str(self.count)},
            capabilities=PINNED_MEMORY,
            env=env,
            training_annotations={"network.alibabacloud.com/erdma-smcr": "true"} if self.smcr else {},
        )
