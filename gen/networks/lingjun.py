"""RDMA devices of Lingjun nodes, through the RDMA device plugin of ACK (its documentation, "rdma-device-plugin").

Pods must use the network of the node, unless the plugin has its switch for other pods on. The images set NCCL up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from gen.model.effect import Effect
from gen.model.names import ResourceName
from gen.model.profile import Problem
from gen.model.scalars import Positive, Truth
from gen.networks.base import PINNED_MEMORY, Fabric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.networks.base import NetworkProfile


class Lingjun(Fabric):
    """RDMA devices of Lingjun nodes on ACK, together with `hostNetwork: true`."""

    excludes: ClassVar[frozenset[str]] = frozenset({"erdma", "rdma"})
    platform: ClassVar[str] = "Alibaba Cloud"

    resource: ResourceName = "rdma/hca"
    """Extended resource of the device plugin, its `customResourceName`."""
    count: Positive = 1
    """Number of devices to request per training pod. Shared devices are 1000 units of a node."""
    pod_network: Truth = False
    """Whether the plugin serves pods without the host network, on clusters with IPv6."""

    def effect(self, gpus: int) -> Effect:  # noqa: ARG002 - the same for every pod
        return Effect(resources={self.resource: str(self.count)}, capabilities=(*PINNED_MEMORY, "SYS_RESOURCE"))

    def problem_with(self, others: Mapping[str, NetworkProfile]) -> Problem | None:
        on_host = "hostNetwork" in others
        if on_host and self.pod_network:
            return Problem("`podNetwork` and `hostNetwork` cannot be combined", "remove one of the two")
        if not on_host and not self.pod_network:
            message = "`lingjun` requires the network of the node"
            return Problem(message, "add `hostNetwork: true`, or `podNetwork: true` if the plugin serves such pods")
        return None
