"""Shares of NVIDIA GPUs through Volcano's device plugin; only Volcano's scheduler places them (its user guide)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from gen.accelerators.base import AcceleratorProfile
from gen.model.effect import Effect
from gen.model.scalars import Percentage, Positive
from gen.resources.volcano import SCHEDULER

if TYPE_CHECKING:
    from collections.abc import Mapping

_NUMBER = "volcano.sh/vgpu-number"


class VolcanoVgpu(AcceleratorProfile):
    """Shares of NVIDIA GPUs, through Volcano."""

    memory: Annotated[Positive, Field(le=1 << 20)] | None = None
    """Memory of each GPU in MiB. If omitted, all of it."""
    cores: Percentage | None = None
    """Compute power in percent of each GPU."""

    def units(self) -> Mapping[str, int]:
        return {_NUMBER: 1}

    def effect(self, count: int) -> Effect:
        parts = {"volcano.sh/vgpu-memory": self.memory, "volcano.sh/vgpu-cores": self.cores}
        shares = {name: str(amount) for name, amount in parts.items() if amount is not None}
        return Effect(resources={_NUMBER: str(count), **shares}, scheduler=SCHEDULER)
