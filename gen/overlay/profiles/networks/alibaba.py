"""Networks of Alibaba Cloud: elastic network interfaces (ENI) through Terway, elastic RDMA (eRDMA), and Lingjun nodes.

How pods request an ENI depends on the version of Terway (tags v1.0.10 to v1.17.5, `daemon/k8s.go`, `pkg/k8s/k8s.go` and
`pkg/controller/webhook/mutating.go`):

- up to 1.0: the annotation `k8s.aliyun.com/eni`, in VPC mode;
- 1.1 to 1.10: the annotation `k8s.aliyun.com/ENI` (the lower-case form is ignored);
- from 1.11, neither: use nodes in exclusive ENI mode, trunk ENIs (`k8s.aliyun.com/pod-eni`), or a PodNetworking object
  that selects the pods by label.

eRDMA: AliyunContainerService/alibabacloud-erdma-controller, `README.md` for the resource and SMC-R (its
webhook is off by default), `docs/erdma-benchmark/` for the settings of NCCL. The GID index differs between interfaces.

Lingjun: the RDMA device plugin of ACK (its documentation, "rdma-device-plugin"). Pods must use the network of the node,
unless the plugin has its switch for other pods on. The images set NCCL up.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
import ipaddress
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import model_validator

from gen.base import regex
from gen.job.names import LabelKey, LabelValue, ResourceName
from gen.job.profile import Effect, Problem
from gen.job.scalars import Positive, Truth, ValueType, conflict, matching, refuse, schema
from gen.overlay.profiles.networks import PINNED_MEMORY, Fabric, NetworkProfile, PodInterfaces

Version = Annotated[
    str,
    matching(
        regex(r"v?[0-9]{1,4}(\.[0-9]{1,4}){1,2}"),
        16,
        "a version",
        "use a form like `1.0.10` or `1.11`",
        form=schema("version", "string", "number"),
    ),
]

_CAPITALS = (1, 1)
_REMOVED = (1, 11)
_EXCLUSIVE = {"k8s.aliyun.com/exclusive-mode-eni-type": "eniOnly"}
_EXCLUSIVE_TAINT = {"key": "exclusive-eni", "operator": "Equal", "value": "true", "effect": "NoSchedule"}


class Terway(PodInterfaces):
    """Dedicated elastic network interface (ENI) per pod, on an ACK cluster with Terway."""

    platform: ClassVar[str] = "Alibaba Cloud"

    version: Version
    """Version of Terway on the cluster."""
    mode: Literal["exclusive", "trunk", "podNetworking"] | None = None
    """How pods get the interface, from Terway 1.11: `exclusive` nodes (default), `trunk` or `podNetworking`."""
    labels: dict[LabelKey, LabelValue] = {}
    """Pod labels that the PodNetworking object selects. Requires `mode: podNetworking`."""

    @model_validator(mode="after")
    def _mode_fits(self) -> Self:
        if self.mode is not None and self._release < _REMOVED:
            raise conflict("`mode` requires Terway 1.11 or later", "remove `mode`, or correct `version`")
        if (self.mode == "podNetworking") != bool(self.labels):
            raise conflict(
                "`labels` and `mode: podNetworking` require each other",
                "set `labels` to the pod labels that the PodNetworking object selects, or remove both",
            )
        return self

    @property
    def _release(self) -> tuple[int, ...]:
        return tuple(int(part) for part in self.version.removeprefix("v").split(".")[:2])

    def effect(self, gpus: int) -> Effect:
        if self._release < _CAPITALS:
            return Effect(annotations={"k8s.aliyun.com/eni": "true"})
        if self._release < _REMOVED:
            return Effect(annotations={"k8s.aliyun.com/ENI": "true"})
        if self.mode == "trunk":
            return Effect(annotations={"k8s.aliyun.com/pod-eni": "true"})
        if self.mode == "podNetworking":
            return Effect(labels=self.labels)
        return Effect(node_labels=_EXCLUSIVE, tolerations=(_EXCLUSIVE_TAINT,))


def _range(value: object) -> object:
    try:
        return str(ipaddress.ip_network(str(value)))
    except ValueError:
        raise refuse("a range of addresses", value, "use a form like `192.168.0.0/16`") from None


AddressRange = Annotated[str, ValueType(_range, schema("range of addresses", "string"))]


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

    def effect(self, gpus: int) -> Effect:
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

    def effect(self, gpus: int) -> Effect:
        return Effect(resources={self.resource: str(self.count)}, capabilities=(*PINNED_MEMORY, "SYS_RESOURCE"))

    def problem_with(self, others: Mapping[str, NetworkProfile]) -> Problem | None:
        on_host = "hostNetwork" in others
        if on_host and self.pod_network:
            return Problem("`podNetwork` and `hostNetwork` cannot be combined", "remove one of the two")
        if not on_host and not self.pod_network:
            message = "`lingjun` requires the network of the node"
            return Problem(message, "add `hostNetwork: true`, or `podNetwork: true` if the plugin serves such pods")
        return None
