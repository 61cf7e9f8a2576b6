"""Base class of accelerator profiles: how pods request devices of one kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from gen.kubernetes import NVIDIA_DEVICES
from gen.model.profile import Problem, Profile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.model.effect import Effect
    from gen.resources.base import Resource


class Request(Struct, frozen=True):
    """Devices that a job requests."""

    count: int
    """Devices of each pod, at least one."""
    pods: int
    """Pods of the job with this accelerator, at most."""
    fewest: int
    """Pods with which an elastic job goes on."""


class AcceleratorProfile(Profile, ABC):
    """Accelerator profile: a kind of device, or of a share of one."""

    companions: ClassVar[tuple[Resource, ...]] = ()
    """Kinds of the objects that gen adds to a run with the accelerator."""
    models: ClassVar[str | None] = None
    """Node label with the model of the device, if the platform sets one."""
    hidden_by: ClassVar[str] = NVIDIA_DEVICES
    """Variable that hides the devices from a container with the value `void`. That of NVIDIA harms no other device."""

    @abstractmethod
    def units(self) -> Mapping[str, int]:
        """Extended resources that count devices, with the amount that is one device (or one share of it)."""

    @abstractmethod
    def effect(self, count: int) -> Effect:
        """Changes to a pod that requests `count` devices."""

    def problem(self, request: Request) -> Problem | None:  # noqa: ARG002 - most devices serve any number
        """Why the devices cannot serve the request."""
        return None

    def pins_model(self) -> bool:
        """Whether the profile already selects nodes by model."""
        return False


def tolerated(resource: str) -> tuple[dict[str, str], ...]:
    """The toleration for the taint that keeps other pods off the nodes of a device."""
    return ({"key": resource, "operator": "Exists", "effect": "NoSchedule"},)


def one_share(name: str, request: Request) -> Problem | None:
    """The problem of devices that are shares: pods and processes cannot communicate over several of them."""
    if request.count > 1:
        return Problem(f"a pod can use one {name}, not {request.count}", "set `gpus: 1`, or use whole GPUs")
    if request.pods > 1:
        message = f"{request.pods} pods cannot train together on a {name} each, because NCCL does not support it"
        return Problem(message, "set `workers: 1`, or use whole GPUs")
    return None
