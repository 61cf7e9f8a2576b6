"""GPUDirect-TCPX on GKE, for A3 High nodes.

GoogleCloudPlatform/container-engine-accelerators `gpudirect-tcpx/nccl-test-latest.yaml` for the daemon, and
`nccl-config-latest.yaml` for the settings of NCCL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace

from gen.model.effect import NodeMount
from gen.networks.base import PINNED_MEMORY
from gen.networks.gke import GpuDirectTcp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.kubernetes import Body
    from gen.model.effect import Effect

_SOCKET = "/run/tcpx"


class GkeTcpx(GpuDirectTcp):
    """GPUDirect-TCPX on GKE, for A3 High nodes with 8 GPUs."""

    name: ClassVar[str] = "tcpx-daemon"
    interfaces_of_node: ClassVar[int] = 4
    disabled_by: ClassVar[Mapping[str, tuple[str, ...]]] = {"NCCL_NET": ("Socket", "IB")}

    def sidecar(self) -> Body:
        return {
            "command": [
                "/tcpgpudmarxd/build/app/tcpgpudmarxd",
                *("--gpu_nic_preset", "a3vm", "--gpu_shmem_type", "fd", "--uds_path", _SOCKET),
                *("--setup_param", '\\"--verbose 128 2 0 \\"'),
            ],
            "securityContext": {"capabilities": {"add": ["NET_ADMIN"]}},
            "volumeMounts": [{"name": "gpudirect-socket", "mountPath": _SOCKET}],
        }

    def more_mounts(self) -> tuple[NodeMount, ...]:
        return (NodeMount(name="gpudirect-socket", source={"emptyDir": {}}, path=_SOCKET, read_only=False),)

    def settings(self) -> dict[str, str]:
        return {
            "NCCL_GPUDIRECTTCPX_UNIX_CLIENT_PREFIX": _SOCKET,
            "NCCL_GPUDIRECTTCPX_SOCKET_IFNAME": self.interface_names,
            "NCCL_GPUDIRECTTCPX_CTRL_DEV": "eth0",
            "NCCL_GPUDIRECTTCPX_FORCE_ACK": "0",
            "NCCL_GPUDIRECTTCPX_TX_COMPLETION_NANOSLEEP": "1000",
            "NCCL_GPUDIRECTTCPX_PROGRAM_FLOW_STEERING_WAIT_MICROS": "1000000",
            "NCCL_GPUDIRECTTCPX_TX_BINDINGS": _bindings("8-21,112-125", "60-73,164-177"),
            "NCCL_GPUDIRECTTCPX_RX_BINDINGS": _bindings("22-35,124-139", "74-87,178-191"),
            "NCCL_DYNAMIC_CHUNK_SIZE": "524288",
            "NCCL_P2P_NET_CHUNKSIZE": "524288",
            "NCCL_P2P_PCI_CHUNKSIZE": "524288",
            "NCCL_P2P_NVL_CHUNKSIZE": "1048576",
            "NCCL_NSOCKS_PERTHREAD": "4",
            "NCCL_SOCKET_NTHREADS": "1",
            "NCCL_MAX_NCHANNELS": "8",
            "NCCL_MIN_NCHANNELS": "8",
            "NCCL_CROSS_NIC": "0",
            "NCCL_ALGO": "Ring",
            "NCCL_PROTO": "Simple",
            "NCCL_NET_GDR_LEVEL": "PIX",
            "NCCL_P2P_PXN_LEVEL": "0",
        }

    def effect(self, gpus: int) -> Effect:
        return replace(super().effect(gpus), capabilities=PINNED_MEMORY)


def _bindings(first: str, second: str) -> str:
    """CPUs of each interface: the first two are at one socket of the node, the others at the second."""
    return f"eth1:{first};eth2:{first};eth3:{second};eth4:{second}"
