"""Whole NVIDIA GPUs, through NVIDIA's device plugin or GPU operator (its `README.md`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from gen.accelerators.base import tolerated
from gen.accelerators.whole import WholeGpus
from gen.model.names import LabelValue

if TYPE_CHECKING:
    from gen.kubernetes import Body

NVIDIA_GPU = "nvidia.com/gpu"


class Nvidia(WholeGpus):
    """Whole NVIDIA GPUs."""

    resource: ClassVar[str] = NVIDIA_GPU
    models: ClassVar[str | None] = "nvidia.com/gpu.product"
    tolerations: ClassVar[tuple[Body, ...]] = tolerated(NVIDIA_GPU)

    model: LabelValue | None = None
    """Model, as GPU feature discovery labels its nodes: `NVIDIA-H100-80GB-HBM3`. If omitted, any."""
