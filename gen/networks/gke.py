"""Base class of GPUDirect profiles on GKE: more interfaces through multi-networking, and libraries of the node.

GoogleCloudPlatform/container-engine-accelerators `gpudirect-rdma/`, `gpudirect-tcpx/` and `gpudirect-tcpxo/`; GKE
documentation, "Maximize GPU network bandwidth": a pod uses all GPUs and all interfaces of its node.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import ClassVar, Self

from pydantic import model_validator

from gen.kubernetes import Body
from gen.model.effect import Effect, NodeMount
from gen.model.names import ImageRef, ObjectName
from gen.model.profile import Problem
from gen.model.scalars import conflict
from gen.networks.base import PodInterfaces

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

    def effect(self, gpus: int) -> Effect:  # noqa: ARG002 - `problem` permits one number
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
