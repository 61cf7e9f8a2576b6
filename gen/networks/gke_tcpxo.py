"""GPUDirect-TCPXO on GKE, for A3 Mega nodes.

GoogleCloudPlatform/container-engine-accelerators `gpudirect-tcpxo/`: `nccl-test-latest.yaml` and `best-practice.md` for
the daemon, `README.md` for the settings of NCCL in the release of January 2026, which its plugin checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from gen.model.effect import NodeMount
from gen.networks.gke import LIBRARIES, GpuDirectTcp, host_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.kubernetes import Body

_APERTURES = "/dev/aperture_devices"
_HEALTH = "/run/health-check"
_START = (
    "chmod 755 /fts/entrypoint_rxdm_container.sh\nexec /fts/entrypoint_rxdm_container.sh --num_hops=2 --num_nics=8\n"
)


class GkeTcpxo(GpuDirectTcp):
    """GPUDirect-TCPXO on GKE, for A3 Mega nodes with 8 GPUs."""

    name: ClassVar[str] = "tcpxo-daemon"
    interfaces_of_node: ClassVar[int] = 8
    devices: ClassVar[tuple[str, ...]] = (*GpuDirectTcp.devices, "/dev/dmabuf_import_helper")
    disabled_by: ClassVar[Mapping[str, tuple[str, ...]]] = {"NCCL_NET": ("Socket", "IB")}

    def sidecar(self) -> Body:
        return {
            "command": ["sh", "-c", _START],
            "env": [{"name": "HEALTH_CHECK_LOG_FILE", "value": _HEALTH}],
            # the daemon needs about 30 seconds; on a faulty node it never writes the file
            "startupProbe": {"exec": {"command": ["cat", _HEALTH]}, "periodSeconds": 5, "failureThreshold": 24},
            "securityContext": {"capabilities": {"add": ["NET_ADMIN", "NET_BIND_SERVICE"]}},
        }

    def more_mounts(self) -> tuple[NodeMount, ...]:
        return (NodeMount(name="gpudirect-apertures", source=host_path(_APERTURES), path=_APERTURES, read_only=False),)

    def settings(self) -> dict[str, str]:
        return {
            "NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY": _APERTURES,
            "NCCL_FASTRAK_CTRL_DEV": "eth0",
            "NCCL_FASTRAK_IFNAME": self.interface_names,
            "NCCL_FASTRAK_NUM_FLOWS": "2",
            "NCCL_FASTRAK_USE_SNAP": "1",
            "NCCL_FASTRAK_USE_LLCM": "1",
            "NCCL_FASTRAK_PLUGIN_ACCEPT_TIMEOUT_MS": "600000",
            "NCCL_FASTRAK_ENABLE_CONTROL_CHANNEL": "0",
            "NCCL_FASTRAK_ENABLE_HOTPATH_LOGGING": "0",
            "NCCL_CROSS_NIC": "0",
            "NCCL_PROTO": "Simple,LL128",
            "NCCL_MIN_NCHANNELS": "4",
            "NCCL_TUNER_PLUGIN": "libnccl-tuner.so",
            "NCCL_TUNER_CONFIG_PATH": f"{LIBRARIES}/a3plus_tuner_config.textproto",
            "NCCL_SHIMNET_GUEST_CONFIG_CHECKER_CONFIG_FILE": f"{LIBRARIES}/a3plus_guest_config.textproto",
            "NCCL_NVLSTREE_MAX_CHUNKSIZE": "131072",
            "NCCL_NVLS_ENABLE": "1",
            "NCCL_P2P_NET_CHUNKSIZE": "524288",
            "NCCL_P2P_PCI_CHUNKSIZE": "524288",
            "NCCL_P2P_NVL_CHUNKSIZE": "1048576",
            "NCCL_BUFFSIZE": "8388608",
            "NCCL_NET_GDR_LEVEL": "PIX",
        }
