"""Intel Gaudi, through Habana's device plugin (Gaudi documentation, "Kubernetes"): huge pages and `SYS_NICE`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from gen.accelerators.base import AcceleratorProfile
from gen.model.effect import Effect
from gen.model.scalars import Bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

_GAUDI = "habana.ai/gaudi"


class Gaudi(AcceleratorProfile):
    """Intel Gaudi."""

    short: ClassVar[str] = "hugepages"

    hugepages: Bytes | None = None
    """Huge pages of 2 MiB for each pod, such as `95000Mi`."""

    def units(self) -> Mapping[str, int]:
        return {_GAUDI: 1}

    def effect(self, count: int) -> Effect:
        pages = {"hugepages-2Mi": self.hugepages} if self.hugepages is not None else {}
        return Effect(resources={_GAUDI: str(count), **pages}, capabilities=("SYS_NICE",))
