"""Shares of NVIDIA GPUs through HAMi. Its webhook selects the scheduler (HAMi, `README.md`)."""

from __future__ import annotations

from typing import ClassVar

from gen.accelerators.nvidia import NVIDIA_GPU
from gen.accelerators.shares import VirtualGpus


class Hami(VirtualGpus):
    """Shares of NVIDIA GPUs, through HAMi."""

    number: ClassVar[str] = NVIDIA_GPU
    parts: ClassVar[tuple[str, str]] = ("nvidia.com/gpumem", "nvidia.com/gpucores")
