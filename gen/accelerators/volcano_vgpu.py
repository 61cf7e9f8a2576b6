"""Shares of NVIDIA GPUs through Volcano's device plugin; only Volcano's scheduler places them (its user guide)."""

from __future__ import annotations

from typing import ClassVar

from gen.accelerators.shares import VirtualGpus
from gen.resources.volcano import SCHEDULER


class VolcanoVgpu(VirtualGpus):
    """Shares of NVIDIA GPUs, through Volcano."""

    number: ClassVar[str] = "volcano.sh/vgpu-number"
    parts: ClassVar[tuple[str, str]] = ("volcano.sh/vgpu-memory", "volcano.sh/vgpu-cores")
    scheduler: ClassVar[str | None] = SCHEDULER
