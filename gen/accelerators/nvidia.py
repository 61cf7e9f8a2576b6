"""Whole NVIDIA GPUs, through NVIDIA's device plugin or GPU operator (its `README.md`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from gen.accelerators.base import AcceleratorProfile, tolerated
from gen.model.effect import Effect
from gen.model.names import LabelValue

if TYPE_CHECKING:
    from collections.abc import Mapping

NVIDIA_GPU = "nvidia.com/gpu"
_MODEL = "nvidia.com/gpu.product"


class Nvidia(AcceleratorProfile):
    """Whole NVIDIA GPUs."""

    short: ClassVar[str] = "model"
    models: ClassVar[str | None] = _MODEL

    model: LabelValue | None = None
    """Model, as GPU feature discovery labels its nodes: `NVIDIA-H100-80GB-HBM3`. If omitted, any."""

    def units(self) -> Mapping[str, int]:
        return {NVIDIA_GPU: 1}

    def effect(self, count: int) -> Effect:
        labels = {_MODEL: self.model} if self.model is not None else {}
        return Effect(resources={NVIDIA_GPU: str(count)}, node_labels=labels, tolerations=tolerated(NVIDIA_GPU))

    def pins_model(self) -> bool:
        return self.model is not None
