"""Whole GPUs of one model: a resource, and a node label with the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from gen.accelerators.base import AcceleratorProfile
from gen.model.effect import Effect
from gen.model.names import LabelValue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.kubernetes import Body


class WholeGpus(AcceleratorProfile):
    """Whole GPUs, which nodes offer under one resource. `models` must be set."""

    short: ClassVar[str] = "model"
    resource: ClassVar[str]
    """Extended resource."""
    nodes: ClassVar[Mapping[str, str]] = {}
    """Node labels that must match for any model."""
    tolerations: ClassVar[tuple[Body, ...]] = ()

    model: LabelValue | None = None

    def units(self) -> Mapping[str, int]:
        return {self.resource: 1}

    def effect(self, count: int) -> Effect:
        labels = {str(self.models): self.model} if self.model is not None else {}
        return Effect(
            resources={self.resource: str(count)}, node_labels={**self.nodes, **labels}, tolerations=self.tolerations
        )

    def pins_model(self) -> bool:
        return self.model is not None
