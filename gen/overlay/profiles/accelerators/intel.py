"""Intel GPUs, through Intel's device plugin, which names the resource after the kernel driver, and Intel Gaudi.

Gaudi: Habana's device plugin (Gaudi documentation, "Kubernetes"), huge pages and `SYS_NICE`.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from typing import ClassVar, Literal

from gen.job.profile import Effect
from gen.job.scalars import Bytes
from gen.overlay.profiles.accelerators import AcceleratorProfile


class Intel(AcceleratorProfile):
    """Intel GPUs."""

    short: ClassVar[str] = "driver"

    driver: Literal["i915", "xe"]
    """Kernel driver of the nodes."""

    def effect(self, count: int) -> Effect:
        return Effect(resources={f"gpu.intel.com/{self.driver}": str(count)})


_GAUDI = "habana.ai/gaudi"


class Gaudi(AcceleratorProfile):
    """Intel Gaudi."""

    short: ClassVar[str] = "hugepages"

    hugepages: Bytes | None = None
    """Huge pages of 2 MiB for each pod, such as `95000Mi`."""

    def effect(self, count: int) -> Effect:
        pages = {"hugepages-2Mi": self.hugepages} if self.hugepages is not None else {}
        return Effect(resources={_GAUDI: str(count), **pages}, capabilities=("SYS_NICE",))
