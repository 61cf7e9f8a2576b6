"""Accelerator profiles: their base classes and their registry, one file each. See `docs/extending.md`.

A profile defines how pods request devices. Whole GPUs have a node label for their model.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Final

from msgspec import Struct

from gen.base import LazyRegistry
from gen.job.names import LabelValue
from gen.job.profile import Effect, Problem, Profile
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.objects import NVIDIA_DEVICES, Body


class Request(Struct, frozen=True):
    """Devices that a job requests."""

    count: int
    """Devices of each pod, at least one."""
    pods: int
    """Pods of the job with this accelerator, at most."""
    numbers_hosts: bool = True
    """Whether GKE numbers the pods of the kind as hosts of a TPU slice."""
    hosts: int | None = None
    """Pods of each replica of the role, if the operator numbers them."""


class AcceleratorProfile(Profile, ABC):
    """Accelerator profile: a kind of device, or of a share of one."""

    companions: ClassVar[tuple[Resource, ...]] = ()
    """Kinds of the objects that gen adds to a run with the accelerator."""
    models: ClassVar[str | None] = None
    """Node label with the model of the device, if the platform sets one."""
    hidden_by: ClassVar[str] = NVIDIA_DEVICES
    """Variable that hides the devices from a container with the value `void`. That of NVIDIA harms no other device."""

    one_process: ClassVar[bool] = True
    """Whether a process of a training uses one device."""

    @abstractmethod
    def effect(self, count: int) -> Effect:
        """Changes to a pod that requests `count` devices. The first of its resources counts them."""

    def units(self) -> Mapping[str, int]:
        """The extended resource that counts devices, with the amount that is one device (or one share of it)."""
        resource, amount = next(iter(self.effect(1).resources.items()))
        return {resource: int(amount)}

    @classmethod
    def of_pods(cls, resource: str, labels: Mapping[str, str], count: int) -> Body | None:
        """The fields of the profile for pods with so many devices of a resource on nodes with these labels, to import
        them; None if neither names the device.
        """
        return None

    def problem(self, request: Request) -> Problem | None:
        """Why the devices cannot serve the request."""
        return None

    def pins_model(self) -> bool:
        """Whether the profile already selects nodes by model."""
        return False


def toleration_of(resource: str) -> tuple[dict[str, str], ...]:
    """The toleration for the taint that keeps other pods off the nodes of a device."""
    return ({"key": resource, "operator": "Exists", "effect": "NoSchedule"},)


def one_share(name: str, request: Request) -> Problem | None:
    """The problem of devices that are shares: pods and processes cannot communicate over several shares."""
    if request.count > 1:
        return Problem(f"a pod can use one {name}, not {request.count}", "set `gpus: 1`, or use whole GPUs")
    if request.pods > 1:
        message = f"{request.pods} pods cannot train together on a {name} each, because NCCL does not support it"
        return Problem(message, "set `workers: 1`, or use whole GPUs")
    return None


class WholeGpus(AcceleratorProfile):
    """Whole GPUs, which nodes offer under one resource. `models` must be set."""

    short: ClassVar[str] = "model"
    resource: ClassVar[str]
    """Extended resource."""
    nodes: ClassVar[Mapping[str, str]] = {}
    """Node labels that must match for any model."""
    tolerations: ClassVar[tuple[Body, ...]] = ()

    model: LabelValue | None = None

    def effect(self, count: int) -> Effect:
        labels = {str(self.models): self.model} if self.model is not None else {}
        return Effect(
            resources={self.resource: str(count)}, node_labels={**self.nodes, **labels}, tolerations=self.tolerations
        )

    def pins_model(self) -> bool:
        return self.model is not None


ACCELERATORS: Final[LazyRegistry[AcceleratorProfile]] = LazyRegistry(
    {
        "ackShare": "gen.overlay.profiles.accelerators.alibaba:AckShare",
        "ackTopology": "gen.overlay.profiles.accelerators.alibaba:AckTopology",
        "amd": "gen.overlay.profiles.accelerators.amd:Amd",
        "ascend": "gen.overlay.profiles.accelerators.ascend:Ascend",
        "dra": "gen.overlay.profiles.accelerators.builtin:Dra",
        "extended": "gen.overlay.profiles.accelerators.builtin:ExtendedResource",
        "gaudi": "gen.overlay.profiles.accelerators.intel:Gaudi",
        "hami": "gen.overlay.profiles.accelerators.nvidia:Hami",
        "intel": "gen.overlay.profiles.accelerators.intel:Intel",
        "mig": "gen.overlay.profiles.accelerators.nvidia:Mig",
        "neuron": "gen.overlay.profiles.accelerators.aws:Neuron",
        "nvidia": "gen.overlay.profiles.accelerators.nvidia:Nvidia",
        "qgpu": "gen.overlay.profiles.accelerators.tencent:Qgpu",
        "timeSliced": "gen.overlay.profiles.accelerators.nvidia:TimeSliced",
        "tpu": "gen.overlay.profiles.accelerators.google:Tpu",
        "volcanoVgpu": "gen.overlay.profiles.accelerators.nvidia:VolcanoVgpu",
    }
)

__all__ = ["ACCELERATORS", "AcceleratorProfile"]
