"""The accelerator profile `abacus`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.job.profile import Effect
from gen.overlay.profiles.accelerators import AcceleratorProfile

if TYPE_CHECKING:
    from collections.abc import Mapping

_RESOURCE = "acme.example.com/abacus"


class Abacus(AcceleratorProfile):
    """Abaci."""

    def units(self) -> Mapping[str, int]:
        return {_RESOURCE: 1}

    def effect(self, count: int) -> Effect:
        return Effect(resources={_RESOURCE: str(count)}, node_labels={"acme.example.com/beads": "wood"})
