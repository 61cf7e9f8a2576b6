"""Shares of GPUs on ACK: memory, and with cGPU also a part of the compute power.

The scheduler extender reads `aliyun.com/gpu-mem` from the limits; the label `ack.node.gpu.schedule` says how a node
shares its GPUs (gpushare-scheduler-extender, `docs/userguide.md`; ACK documentation).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from gen.accelerators.base import AcceleratorProfile, Request, one_share
from gen.model.effect import Effect
from gen.model.profile import Problem
from gen.model.scalars import Percentage, Positive, conflict

if TYPE_CHECKING:
    from collections.abc import Mapping

_MEMORY = "aliyun.com/gpu-mem"
_CORES = "aliyun.com/gpu-core.percentage"


class AckShare(AcceleratorProfile):
    """Shares of GPUs on ACK, through cGPU or the GPU sharing scheduler."""

    memory: Annotated[Positive, Field(le=1024)]
    """GPU memory in GiB."""
    cores: Percentage | None = None
    """Compute power in percent of a GPU. Requires `schedule: core_mem`."""
    schedule: Literal["cgpu", "share", "core_mem"] = "cgpu"
    """Value of the node label `ack.node.gpu.schedule`."""

    @model_validator(mode="after")
    def _cores_are_shared(self) -> Self:
        if (self.cores is not None) != (self.schedule == "core_mem"):
            raise conflict("`cores` and `schedule: core_mem` require each other", "set both, or none of them")
        return self

    def units(self) -> Mapping[str, int]:
        return {_MEMORY: self.memory}

    def effect(self, count: int) -> Effect:
        cores = {_CORES: str(self.cores * count)} if self.cores is not None else {}
        return Effect(
            resources={_MEMORY: str(self.memory * count), **cores},
            node_labels={"ack.node.gpu.schedule": self.schedule},
        )

    def problem(self, request: Request) -> Problem | None:
        return one_share("share of a GPU", request)
