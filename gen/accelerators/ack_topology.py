"""GPUs on ACK that are scheduled by their topology: `aliyun.com/gpu` on nodes with the label
`ack.node.gpu.schedule: topology` (ACK documentation).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from gen.accelerators.base import AcceleratorProfile
from gen.model.effect import Effect
from gen.model.names import LabelValue

if TYPE_CHECKING:
    from collections.abc import Mapping

_GPU = "aliyun.com/gpu"
_MODEL = "aliyun.accelerator/nvidia_name"


class AckTopology(AcceleratorProfile):
    """GPUs on ACK nodes with topology-aware GPU scheduling."""

    short: ClassVar[str] = "model"
    models: ClassVar[str | None] = _MODEL

    model: LabelValue | None = None
    """Model, as ACK labels its nodes (`aliyun.accelerator/nvidia_name`): `Tesla-V100-SXM2-16GB`. If omitted, any."""

    def units(self) -> Mapping[str, int]:
        return {_GPU: 1}

    def effect(self, count: int) -> Effect:
        labels = {_MODEL: self.model} if self.model is not None else {}
        return Effect(resources={_GPU: str(count)}, node_labels={"ack.node.gpu.schedule": "topology", **labels})

    def pins_model(self) -> bool:
        return self.model is not None
