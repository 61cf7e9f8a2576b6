"""More networks of pods, through Multus, and virtual functions of network cards (SR-IOV) for RDMA.

k8snetworkplumbingwg/multus-cni `docs/how-to-use.md`: the annotation names the NetworkAttachmentDefinitions, which must
exist, and the pod requests the device of a network as a resource, unless the resource injector does.
Mellanox/network-operator `example/`: each network has the resource of its device plugin, such as
`nvidia.com/sriov_rdma`, and the container locks memory.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Self

from msgspec.structs import replace
from pydantic import Field, model_validator

from gen.base import regex
from gen.job.model import Model
from gen.job.names import Label, ObjectName, ResourceName
from gen.job.profile import Effect, Problem
from gen.job.scalars import Positive, conflict, matching, schema
from gen.overlay.profiles.networks import PINNED_MEMORY, Fabric, NetworkProfile, PodInterfaces

_DEFAULT_INTERFACE = "eth0"
Interface = Annotated[
    str,
    matching(
        regex(r"[A-Za-z][A-Za-z0-9_.-]*"),
        15,
        "a name of a network interface",
        "use a form like `net1`",
        form=schema("interface", "string"),
    ),
]


class Attachment(Model):
    """NetworkAttachmentDefinition that Multus attaches to training pods."""

    main: ClassVar[str] = "name"

    name: ObjectName
    """Name of the NetworkAttachmentDefinition."""
    namespace: Label | None = None
    """Namespace of the NetworkAttachmentDefinition. Defaults to that of the job."""
    interface: Interface | None = None
    """Name of the interface in the pod. Defaults to `net1`, `net2` and so on."""
    resource: ResourceName | None = None
    """Extended resource of the devices of the network. Networks with the same resource get a device each."""
    count: Positive = 1
    """Number of devices of the network, if it has a `resource`."""

    @model_validator(mode="after")
    def _count_of_devices(self) -> Self:
        if "count" in self.model_fields_set and self.resource is None:
            raise conflict("`count` has no effect without a `resource`", "add `resource`, or remove `count`")
        if self.interface == _DEFAULT_INTERFACE:
            raise conflict("`eth0` is the interface of the default network", "use another name, such as `net1`")
        return self

    @property
    def text(self) -> str:
        """The short form of the annotation."""
        namespace = f"{self.namespace}/" if self.namespace is not None else ""
        return f"{namespace}{self.name}" + (f"@{self.interface}" if self.interface is not None else "")


class Multus(PodInterfaces):
    """More networks of training pods, through Multus. Jobs cannot name others than those declared here."""

    networks: Annotated[tuple[Attachment, ...], Field(min_length=1)]
    """Networks to attach to each training pod, in this order."""

    @model_validator(mode="after")
    def _interfaces_differ(self) -> Self:
        if repeated := _repeated(self.networks):
            raise conflict(f"two networks have the interface `{repeated}`", "give each network an interface of its own")
        return self

    def effect(self, gpus: int) -> Effect:
        devices: Counter[str] = Counter()
        for network in self.networks:
            if network.resource is not None:
                devices[network.resource] += network.count
        return Effect(
            attachments=tuple(network.text for network in self.networks),
            resources={name: str(count) for name, count in devices.items()},
            env={"NCCL_SOCKET_IFNAME": _DEFAULT_INTERFACE},
        )

    def problem_with(self, others: Mapping[str, NetworkProfile]) -> Problem | None:
        for key, other in others.items():
            both = (*self.networks, *other.networks) if isinstance(other, Multus) else ()
            if repeated := _repeated(both):
                message = f"a network of `{key}` has the interface `{repeated}`, too"
                return Problem(message, "give each network an interface of its own")
        return None


def _repeated(networks: Sequence[Attachment]) -> str | None:
    """An interface that several networks have, if there is one."""
    counts = Counter(network.interface for network in networks if network.interface is not None)
    return next((name for name, count in counts.items() if count > 1), None)


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
