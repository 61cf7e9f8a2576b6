"""NVIDIA GPUs that the device plugin shares by time slicing or MPS (its `README.md`, "Shared access to GPUs")."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from gen.accelerators.base import AcceleratorProfile, Request, one_share, tolerated
from gen.accelerators.nvidia import NVIDIA_GPU
from gen.model.effect import Effect
from gen.model.names import ResourceName
from gen.model.profile import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping


class TimeSliced(AcceleratorProfile):
    """Shares of NVIDIA GPUs by time slicing or MPS, without isolation of memory. Intended for development."""

    short: ClassVar[str] = "resource"

    resource: ResourceName = "nvidia.com/gpu.shared"
    """Extended resource: `nvidia.com/gpu.shared` if the plugin renames it, otherwise `nvidia.com/gpu`."""

    def units(self) -> Mapping[str, int]:
        return {self.resource: 1}

    def effect(self, count: int) -> Effect:
        return Effect(resources={self.resource: str(count)}, tolerations=tolerated(NVIDIA_GPU))

    def problem(self, request: Request) -> Problem | None:
        return one_share("share of a GPU", request)
