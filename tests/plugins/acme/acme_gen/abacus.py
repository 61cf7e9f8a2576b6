"""The accelerator profile `abacus`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.accelerators.base import AcceleratorProfile
from gen.model.effect import Effect

if TYPE_CHECKING:
    from collections.abc import Mapping

_RESOURCE = "acme.example.com/abacus"


class Abacus(AcceleratorProfile):
    """Abaci."""

    def units(self) -> Mapping[str, int]:
        return {_RESOURCE: 1}

    def effect(self, count: int) -> Effect:
        return Effect(resources={_RESOURCE: str(count)}, node_labels={"acme.example.com/beads": "wood"})
