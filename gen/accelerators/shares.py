"""Shares of NVIDIA GPUs by memory and compute power, as vGPU schedulers offer them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from gen.accelerators.base import AcceleratorProfile
from gen.model.effect import Effect
from gen.model.scalars import Percentage, Positive

if TYPE_CHECKING:
    from collections.abc import Mapping


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
