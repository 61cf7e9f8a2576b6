"""Shares of NVIDIA GPUs by memory and compute power, through the vGPU schedulers HAMi and Volcano.

The webhook of HAMi selects the scheduler (HAMi, `README.md`). Only Volcano's scheduler places the shares of Volcano's
device plugin (its user guide).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from gen.job.effect import Effect
from gen.job.scalars import Percentage, Positive
from gen.kubernetes.facts.volcano import SCHEDULER
from gen.overlay.profiles.accelerators.base import AcceleratorProfile
from gen.overlay.profiles.accelerators.nvidia import NVIDIA_GPU


class VirtualGpus(AcceleratorProfile):
    """Shares of GPUs: their number is one resource, the memory and compute power of each are two others."""

    number: ClassVar[str]
    """Extended resource that counts the shares."""
    parts: ClassVar[tuple[str, str]]
    """Extended resources for memory and compute power."""
    scheduler: ClassVar[str | None] = None
    """Scheduler that places the shares, if its webhook does not select it."""

    memory: Annotated[Positive, Field(le=1 << 20)] | None = None
    """Memory of each GPU in MiB. If omitted, all of it."""
    cores: Percentage | None = None
    """Compute power in percent of each GPU."""

    def units(self) -> Mapping[str, int]:
        return {self.number: 1}

    def effect(self, count: int) -> Effect:
        amounts = dict(zip(self.parts, (self.memory, self.cores), strict=True))
        shares = {name: str(amount) for name, amount in amounts.items() if amount is not None}
        return Effect(resources={self.number: str(count), **shares}, scheduler=self.scheduler)


class Hami(VirtualGpus):
    """Shares of NVIDIA GPUs, through HAMi."""

    number: ClassVar[str] = NVIDIA_GPU
    parts: ClassVar[tuple[str, str]] = ("nvidia.com/gpumem", "nvidia.com/gpucores")


class VolcanoVgpu(VirtualGpus):
    """Shares of NVIDIA GPUs, through Volcano."""

    number: ClassVar[str] = "volcano.sh/vgpu-number"
    parts: ClassVar[tuple[str, str]] = ("volcano.sh/vgpu-memory", "volcano.sh/vgpu-cores")
    scheduler: ClassVar[str | None] = SCHEDULER
