"""GPUDirect-RDMA on GKE, for A3 Ultra and A4 nodes.

GoogleCloudPlatform/container-engine-accelerators `gpudirect-rdma/nccl-test.yaml` for the interfaces and folders. The
settings are those of `set_nccl_env.sh` on A3 Ultra, which a program can run for another machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from gen.model.effect import Effect, NodeMount
from gen.model.names import ObjectName
from gen.networks.base import Fabric
from gen.networks.gke import LIBRARIES, GpuDirect, host_path

if TYPE_CHECKING:
    from collections.abc import Mapping


class GkeRdma(GpuDirect):
    """GPUDirect-RDMA on GKE, for A3 Ultra and A4 nodes with 8 GPUs."""

    first_interface: ClassVar[int] = 2
    disabled_by: ClassVar[Mapping[str, tuple[str, ...]]] = Fabric.disabled_by

    networks: Annotated[tuple[ObjectName, ...], Field(min_length=1)] = tuple(f"rdma-{index}" for index in range(8))
    """GKE Networks of the interfaces for RDMA, in their order. Defaults to `rdma-0` to `rdma-7`."""

    def effect(self, gpus: int) -> Effect:  # noqa: ARG002 - `problem` permits one number
        return Effect(
            training_annotations=self.interfaces(self.networks),
            env={
                "LD_LIBRARY_PATH": f"/usr/local/gib/lib64:{LIBRARIES}",
                "NCCL_SOCKET_IFNAME": "eth0",
                "NCCL_NET": "gIB",
                "NCCL_CROSS_NIC": "0",
                "NCCL_NET_GDR_LEVEL": "PIX",
                "NCCL_P2P_NET_CHUNKSIZE": "131072",
                "NCCL_NVLS_CHUNKSIZE": "524288",
                "NCCL_IB_ADAPTIVE_ROUTING": "1",
                "NCCL_IB_QPS_PER_CONNECTION": "4",
                "NCCL_IB_TC": "52",
                "NCCL_IB_FIFO_TC": "84",
            },
            mounts=(
                NodeMount(
                    name="gpudirect-nvidia", source=host_path("/home/kubernetes/bin/nvidia"), path="/usr/local/nvidia"
                ),
                NodeMount(name="gpudirect-gib", source=host_path("/home/kubernetes/bin/gib"), path="/usr/local/gib"),
            ),
        )
