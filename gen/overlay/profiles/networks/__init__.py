"""Network profiles: their base classes and their registry, one file each. See `docs/extending.md`."""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Final

from msgspec.structs import replace

from gen.base import LazyRegistry
from gen.job.names import EnvName
from gen.job.profile import Effect, Problem, Profile
from gen.job.scalars import Text


class NetworkProfile(Profile, ABC):
    """Network profile: a way to connect pods."""

    excludes: ClassVar[frozenset[str]] = frozenset()
    """Profiles that cannot be combined with this one. One of the two names the other."""
    platform: ClassVar[str] = ""
    """The cloud that has it, if only one has it. Profiles of two clouds cannot be combined."""
    disabled_by: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Environment variables with the values that make programs use another network."""

    env: dict[EnvName, Text] = {}
    """Environment of each training container, in addition to that of the profile, or instead of it. A job can override
    it, and gets a warning."""

    @abstractmethod
    def effect(self, gpus: int) -> Effect:
        """Changes to a pod of a job with `gpus` GPUs, without `env`."""

    def problem(self, gpus: int) -> Problem | None:
        """Why a training pod with `gpus` GPUs cannot use the network."""
        return None

    def problem_with(self, others: Mapping[str, "NetworkProfile"]) -> Problem | None:
        """Why the profile does not work together with the others of its network, or without some other."""
        return None

    def total(self, gpus: int) -> Effect:
        """Changes to a pod of a job with `gpus` GPUs."""
        effect = self.effect(gpus)
        return replace(effect, env={**effect.env, **self.env})


class PodInterfaces(NetworkProfile, ABC):
    """Profile that gives pods interfaces of their own, which pods on the network of the node do not get."""

    excludes: ClassVar[frozenset[str]] = frozenset({"hostNetwork"})


class Fabric(NetworkProfile, ABC):
    """Profile for devices that programs use through RDMA instead of TCP."""

    disabled_by: ClassVar[Mapping[str, tuple[str, ...]]] = {"NCCL_IB_DISABLE": ("1",), "NCCL_NET": ("Socket",)}


PINNED_MEMORY = ("IPC_LOCK",)
"""Capability to register memory with RDMA devices."""


NETWORKS: Final[LazyRegistry[NetworkProfile]] = LazyRegistry(
    {
        "efa": "gen.overlay.profiles.networks.aws:Efa",
        "erdma": "gen.overlay.profiles.networks.alibaba:Erdma",
        "gkeRdma": "gen.overlay.profiles.networks.google:GkeRdma",
        "gkeTcpx": "gen.overlay.profiles.networks.google:GkeTcpx",
        "gkeTcpxo": "gen.overlay.profiles.networks.google:GkeTcpxo",
        "hostNetwork": "gen.overlay.profiles.networks.builtin:HostNetwork",
        "lingjun": "gen.overlay.profiles.networks.alibaba:Lingjun",
        "multus": "gen.overlay.profiles.networks.sriov:Multus",
        "rdma": "gen.overlay.profiles.networks.builtin:RDMA",
        "sriov": "gen.overlay.profiles.networks.sriov:Sriov",
        "terway": "gen.overlay.profiles.networks.alibaba:Terway",
        "tkeEni": "gen.overlay.profiles.networks.tencent:TkeEni",
    }
)

__all__ = ["NETWORKS", "NetworkProfile"]
