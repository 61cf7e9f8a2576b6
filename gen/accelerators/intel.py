"""Intel GPUs, through Intel's device plugin, which names the resource after the kernel driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from gen.accelerators.base import AcceleratorProfile
from gen.model.effect import Effect

if TYPE_CHECKING:
    from collections.abc import Mapping


class Intel(AcceleratorProfile):
    """Intel GPUs."""

    short: ClassVar[str] = "driver"

    driver: Literal["i915", "xe"]
    """Kernel driver of the nodes."""

    def units(self) -> Mapping[str, int]:
        return {f"gpu.intel.com/{self.driver}": 1}

    def effect(self, count: int) -> Effect:
        return Effect(resources={f"gpu.intel.com/{self.driver}": str(count)})
