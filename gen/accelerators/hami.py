"""Shares of NVIDIA GPUs through HAMi. Its webhook selects the scheduler (HAMi, `README.md`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from gen.accelerators.base import AcceleratorProfile
from gen.accelerators.nvidia import NVIDIA_GPU
from gen.model.effect import Effect
from gen.model.scalars import Percentage, Positive

if TYPE_CHECKING:
    from collections.abc import Mapping


class Hami(AcceleratorProfile):
    """Shares of NVIDIA GPUs, through HAMi."""

    memory: Annotated[Positive, Field(le=1 << 20)] | None = None
    """Memory of each GPU in MiB. If omitted, all of it."""
    cores: Percentage | None = None
    """Compute power in percent of each GPU."""

    def units(self) -> Mapping[str, int]:
        return {NVIDIA_GPU: 1}

    def effect(self, count: int) -> Effect:
        parts = {"nvidia.com/gpumem": self.memory, "nvidia.com/gpucores": self.cores}
        shares = {name: str(amount) for name, amount in parts.items() if amount is not None}
        return Effect(resources={NVIDIA_GPU: str(count), **shares})
