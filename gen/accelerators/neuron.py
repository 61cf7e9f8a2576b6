"""AWS Trainium and Inferentia, through the Neuron device plugin (Neuron documentation, "containers")."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from gen.accelerators.base import AcceleratorProfile, tolerated
from gen.model.effect import Effect

if TYPE_CHECKING:
    from collections.abc import Mapping

_TAINT = "aws.amazon.com/neuron"


class Neuron(AcceleratorProfile):
    """AWS Trainium and Inferentia."""

    short: ClassVar[str] = "unit"

    unit: Literal["device", "core"] = "device"
    """Unit of `gpus`: whole devices, or cores of them."""

    @property
    def _resource(self) -> str:
        return "aws.amazon.com/neuron" if self.unit == "device" else "aws.amazon.com/neuroncore"

    def units(self) -> Mapping[str, int]:
        return {self._resource: 1}

    def effect(self, count: int) -> Effect:
        return Effect(resources={self._resource: str(count)}, tolerations=tolerated(_TAINT))
