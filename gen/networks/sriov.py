"""Virtual functions of network cards (SR-IOV) for RDMA, through Multus.

Mellanox/network-operator `example/`: each network has the resource of its device plugin, such as
`nvidia.com/sriov_rdma`, and the container locks memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec.structs import replace
from pydantic import Field

from gen.model.names import ResourceName
from gen.networks.base import PINNED_MEMORY, Fabric
from gen.networks.multus import Attachment, Multus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.model.effect import Effect


class VirtualFunction(Attachment):
    """Network of virtual functions, with the resource of their device plugin."""

    resource: ResourceName
    """Extended resource of the device plugin. Networks with the same resource get a device each."""


class Sriov(Multus):
    """Virtual functions of network cards (SR-IOV) for RDMA, through Multus."""

    disabled_by: ClassVar[Mapping[str, tuple[str, ...]]] = Fabric.disabled_by

    networks: Annotated[tuple[VirtualFunction, ...], Field(min_length=1)]
    """Networks to attach to each training pod, in this order."""

    def effect(self, gpus: int) -> Effect:
        return replace(super().effect(gpus), capabilities=PINNED_MEMORY)
