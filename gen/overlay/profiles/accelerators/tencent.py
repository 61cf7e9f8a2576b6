"""Shares of GPUs on TKE through qGPU: compute power in percent, 5 to 100 or a multiple of 100, and memory in GB (TKE
documentation).
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from typing import Annotated

from pydantic import Field

from gen.job.profile import Effect, Problem
from gen.job.scalars import Percentage, Positive
from gen.overlay.profiles.accelerators import AcceleratorProfile, Request, one_share

_CORES = "tke.cloud.tencent.com/qgpu-core"
_MEMORY = "tke.cloud.tencent.com/qgpu-memory"
_WHOLE = 100


class Qgpu(AcceleratorProfile):
    """Shares of GPUs on TKE, through qGPU."""

    cores: Annotated[Percentage, Field(ge=5)] = _WHOLE
    """Compute power in percent of a GPU, at least 5. With 100, a pod can use several GPUs."""
    memory: Annotated[Positive, Field(le=1024)] | None = None
    """GPU memory in GB."""

    def effect(self, count: int) -> Effect:
        memory = {_MEMORY: str(self.memory * count)} if self.memory is not None else {}
        return Effect(resources={_CORES: str(self.cores * count), **memory})

    def problem(self, request: Request) -> Problem | None:
        return None if self.cores == _WHOLE else one_share("share of a GPU", request)
