"""GPUDirect on GKE: RDMA (A3 Ultra, A4), TCPX (A3 High) and TCPXO (A3 Mega), with more interfaces and node libraries.

GoogleCloudPlatform/container-engine-accelerators and GKE documentation, "Maximize GPU network bandwidth": a pod uses
all GPUs and all interfaces of its node.

- `gpudirect-rdma/nccl-test.yaml` for the interfaces and folders. The settings are those of `set_nccl_env.sh` on A3
  Ultra, which a program can run for another machine.
- `gpudirect-tcpx/nccl-test-latest.yaml` for the daemon, and `nccl-config-latest.yaml` for the settings of NCCL.
- `gpudirect-tcpxo/`: `nccl-test-latest.yaml` and `best-practice.md` for the daemon, `README.md` for the settings of
  NCCL in the release of January 2026, which its plugin checks.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Annotated, ClassVar, Self

from msgspec.structs import replace
from pydantic import Field, model_validator

from gen.job.names import ImageRef, ObjectName
from gen.job.profile import Effect, NodeMount, Problem
from gen.job.scalars import conflict
from gen.kubernetes.objects import Body
from gen.overlay.profiles.networks import PINNED_MEMORY, Fabric, PodInterfaces

LIBRARIES = "/usr/local/nvidia/lib64"
_LIBRARIES_OF_NODE = "/home/kubernetes/bin/nvidia/lib64"
_PRIMARY = "eth0"


class GpuDirect(PodInterfaces, ABC):
    """Profile for GPUDirect on GKE."""

    grant: ClassVar[str] = "gpuDirect"
    platform: ClassVar[str] = "Google Cloud"
    excludes: ClassVar[frozenset[str]] = frozenset({"hostNetwork", "gkeRdma", "gkeTcpx", "gkeTcpxo"})
    first_interface: ClassVar[int] = 1
    gpus_of_node: ClassVar[int] = 8

    def interfaces(self, networks: tuple[str, ...]) -> dict[str, str]:
        """Annotations with an interface for each network."""
        names = enumerate(networks, self.first_interface)
        given = [(_PRIMARY, "default"), *((f"eth{index}", network) for index, network in names)]
        entries = [{"interfaceName": interface, "network": network} for interface, network in given]
        return {
            "networking.gke.io/default-interface": _PRIMARY,
            "networking.gke.io/interfaces": json.dumps(entries, separators=(",", ":")),
        }

    def problem(self, gpus: int) -> Problem | None:
        if gpus != self.gpus_of_node:
            message = f"GPUDirect needs all {self.gpus_of_node} GPUs of a node, and the pods request {gpus or 'none'}"
            return Problem(message, f"set `gpus: {self.gpus_of_node}`, or use `network: pod`")
        return None


class GpuDirectTcp(GpuDirect, ABC):
    """Profile for GPUDirect over TCP: a daemon in the pod receives into the memory of the GPUs."""

    kubernetes: ClassVar[str] = "1.29"
    name: ClassVar[str]
    """Name of the daemon."""
    devices: ClassVar[tuple[str, ...]] = (
        *(f"/dev/nvidia{index}" for index in range(8)),
        "/dev/nvidiactl",
        "/dev/nvidia-uvm",
    )
    """Devices of the daemon, which the device injector of the node adds."""
    interfaces_of_node: ClassVar[int]

    daemon: ImageRef
    """Image of the daemon. Its version must be that of the NCCL plugin on the nodes."""
    networks: tuple[ObjectName, ...] = ()
    """GKE Networks of the interfaces for GPUs, in their order. Defaults to `vpc1`, `vpc2` and so on."""

    @model_validator(mode="after")
    def _one_network_each(self) -> Self:
        if len(self.networks) not in (0, self.interfaces_of_node):
            problem = f"a node has {self.interfaces_of_node} interfaces for GPUs, got {len(self.networks)} `networks`"
            raise conflict(problem, f"name {self.interfaces_of_node} networks, or omit `networks`")
        return self

    @property
    def network_names(self) -> tuple[str, ...]:
        return self.networks or tuple(f"vpc{index}" for index in range(1, self.interfaces_of_node + 1))

    @property
    def interface_names(self) -> str:
        return ",".join(f"eth{index}" for index in range(1, self.interfaces_of_node + 1))

    @abstractmethod
    def sidecar(self) -> Body:
        """Fields of the container of the daemon that differ between the profiles."""

    @abstractmethod
    def settings(self) -> dict[str, str]:
        """Environment of the training container."""

    def more_mounts(self) -> tuple[NodeMount, ...]:
        """Volumes of one of the profiles."""
        return ()

    def effect(self, gpus: int) -> Effect:
        devices = "".join(f"- path: {path}\n" for path in self.devices)
        annotations = {**self.interfaces(self.network_names), f"devices.gke.io/container.{self.name}": devices}
        own = self.sidecar()
        mounts = [
            {"name": "gpudirect-libraries", "mountPath": LIBRARIES, "readOnly": True},
            {"name": "gpudirect-sys", "mountPath": "/hostsysfs"},
            {"name": "gpudirect-proc-sys", "mountPath": "/hostprocsysfs"},
        ]
        daemon: Body = {
            "name": self.name,
            "image": self.daemon,
            # a sidecar ends with the training container; an ordinary container would keep the pod running
            "restartPolicy": "Always",
            **own,
            "env": [{"name": "LD_LIBRARY_PATH", "value": LIBRARIES}, *own.get("env", ())],
            "volumeMounts": [*mounts, *own.get("volumeMounts", ())],
        }
        return Effect(
            training_annotations=annotations,
            env={"LD_LIBRARY_PATH": LIBRARIES, "NCCL_SOCKET_IFNAME": _PRIMARY, **self.settings()},
            mounts=(
                NodeMount(name="gpudirect-libraries", source=host_path(_LIBRARIES_OF_NODE), path=LIBRARIES),
                NodeMount(name="gpudirect-sys", source=host_path("/sys")),
                NodeMount(name="gpudirect-proc-sys", source=host_path("/proc/sys")),
                *self.more_mounts(),
            ),
            sidecars=(daemon,),
        )


def host_path(path: str) -> Body:
    """A volume with a folder of the node."""
    return {"hostPath": {"path": path}}


class GkeRdma(GpuDirect):
    """GPUDirect-RDMA on GKE, for A3 Ultra and A4 nodes with 8 GPUs."""

    first_interface: ClassVar[int] = 2
    disabled_by: ClassVar[Mapping[str, tuple[str, ...]]] = Fabric.disabled_by

    networks: Annotated[tuple[ObjectName, ...], Field(min_length=1)] = tuple(f"rdma-{index}" for index in range(8))
    """GKE Networks of the interfaces for RDMA, in their order. Defaults to `rdma-0` to `rdma-7`."""

    def effect(self, gpus: int) -> Effect:
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
            "NCCL_GPUDIRECTTCPX_RX_BINDINGS": _bindings("22-35,126-139", "74-87,178-191"),
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
