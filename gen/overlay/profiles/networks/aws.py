"""AWS Elastic Fabric Adapters (EFA), through the device plugin of AWS.

awslabs/awsome-distributed-training `1.architectures/efa-cheatsheet.md`: the extended resource, the devices of each
instance type, huge pages for libfabric, and the settings. `FI_PROVIDER`, `FI_EFA_USE_DEVICE_RDMA` and
`RDMAV_FORK_SAFE` are for old releases of libfabric.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Mapping
from typing import ClassVar, Self

from pydantic import model_validator

from gen.job.profile import Effect, Problem
from gen.job.scalars import Bytes, Positive, conflict
from gen.overlay.profiles.networks import Fabric

_DEVICE = "vpc.amazonaws.com/efa"
_HUGE_PAGES = "hugepages-2Mi"


class Efa(Fabric):
    """Elastic Fabric Adapters (EFA) on EKS: a share of the devices of the node for each GPU, or a fixed number."""

    short: ClassVar[str] = "perNode"
    platform: ClassVar[str] = "AWS"
    disabled_by: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "FI_PROVIDER": ("tcp", "sockets", "udp", "shm"),
        "NCCL_NET": ("Socket",),
    }

    per_node: Positive | None = None
    """Devices of a node. A pod gets the share of its GPUs: `4` on p4d, `32` on p5, `16` on p5en."""
    gpus_per_node: Positive = 8
    """GPUs, or other accelerators, of a node. Used with `perNode`."""
    count: Positive | None = None
    """Devices of each training pod, instead of `perNode`. Intended for nodes without GPUs."""
    hugepages: Bytes = "5Gi"
    """Huge pages of 2 MiB for each training pod, which then needs `memory` or `cpu`. With `0`, EFA uses none."""

    @model_validator(mode="after")
    def _one_number(self) -> Self:
        if (self.per_node is None) == (self.count is None):
            raise conflict("expected either `perNode` or `count`", "set one of the two, such as `perNode: 32`")
        if self.count is not None and "gpus_per_node" in self.model_fields_set:
            raise conflict("`gpusPerNode` has no effect together with `count`", "remove one of the two")
        return self

    def effect(self, gpus: int) -> Effect:
        share = self.count or max((self.per_node or 0) * gpus // self.gpus_per_node, 1)
        resources = {_DEVICE: str(share)}
        env = {"NCCL_SOCKET_IFNAME": "^docker,lo,veth"}
        if self.hugepages == "0":
            env["FI_EFA_USE_HUGE_PAGE"] = "0"
        else:
            resources[_HUGE_PAGES] = self.hugepages
        return Effect(resources=resources, env=env)

    def problem(self, gpus: int) -> Problem | None:
        if self.per_node is None:
            return None
        devices, most = self.per_node, self.gpus_per_node
        if gpus == 0:
            message = f"the {devices} EFA devices of a node are for its GPUs, and the pods request none"
            return Problem(message, "set `gpus`, or use a network with `efa: {count: …}`")
        if gpus > most:
            message = f"a pod requests {gpus} GPUs; nodes with {devices} EFA devices have {most}"
            return Problem(message, f"set `gpus` to at most {most}, and use more `workers`")
        if devices * gpus % most:
            whole = next(number for number in range(1, most + 1) if devices * number % most == 0)
            message = f"{gpus} of {most} GPUs are not a whole share of {devices} EFA devices"
            return Problem(message, f"set `gpus: {whole}`, or a multiple of it")
        return None
