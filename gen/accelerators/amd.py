"""AMD GPUs, through AMD's device plugin and its node labeller."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from gen.accelerators.base import AcceleratorProfile, tolerated
from gen.model.effect import Effect
from gen.model.names import LabelValue

if TYPE_CHECKING:
    from collections.abc import Mapping

_GPU = "amd.com/gpu"
_MODEL = "amd.com/gpu.product-name"


class Amd(AcceleratorProfile):
    """AMD GPUs."""

    short: ClassVar[str] = "model"
    models: ClassVar[str | None] = _MODEL

    model: LabelValue | None = None
    """Model, as the node labeller names it (`amd.com/gpu.product-name`). If omitted, any."""

    def units(self) -> Mapping[str, int]:
        return {_GPU: 1}

    def effect(self, count: int) -> Effect:
        labels = {_MODEL: self.model} if self.model is not None else {}
        return Effect(resources={_GPU: str(count)}, node_labels=labels, tolerations=tolerated(_GPU))

    def pins_model(self) -> bool:
        return self.model is not None
