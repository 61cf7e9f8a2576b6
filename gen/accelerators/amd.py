"""AMD GPUs, through AMD's device plugin and its node labeller."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from gen.accelerators.base import tolerated
from gen.accelerators.whole import WholeGpus
from gen.model.names import LabelValue

if TYPE_CHECKING:
    from gen.kubernetes import Body


class Amd(WholeGpus):
    """AMD GPUs."""

    resource: ClassVar[str] = "amd.com/gpu"
    models: ClassVar[str | None] = "amd.com/gpu.product-name"
    tolerations: ClassVar[tuple[Body, ...]] = tolerated("amd.com/gpu")

    model: LabelValue | None = None
    """Model, as the node labeller names it (`amd.com/gpu.product-name`). If omitted, any."""
