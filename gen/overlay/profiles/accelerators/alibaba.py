"""GPUs on ACK: shares of memory and, with cGPU, of compute power, and whole GPUs that are scheduled by their topology.

The scheduler extender reads `aliyun.com/gpu-mem` from the limits; the label `ack.node.gpu.schedule` sets how a node
shares its GPUs (gpushare-scheduler-extender, `docs/userguide.md`; ACK documentation). Topology-aware nodes have
`aliyun.com/gpu` and the label `ack.node.gpu.schedule: topology` (ACK documentation).
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from gen.job.names import LabelValue
from gen.job.profile import Effect, Problem
from gen.job.scalars import Percentage, Positive, conflict
from gen.overlay.profiles.accelerators import AcceleratorProfile, Request, WholeGpus, one_share

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

    def effect(self, count: int) -> Effect:
        cores = {_CORES: str(self.cores * count)} if self.cores is not None else {}
        return Effect(
            resources={_MEMORY: str(self.memory * count), **cores}, node_labels={"ack.node.gpu.schedule": self.schedule}
        )

    def problem(self, request: Request) -> Problem | None:
        return one_share("share of a GPU", request)


class AckTopology(WholeGpus):
    """GPUs on ACK nodes with topology-aware GPU scheduling."""

    resource: ClassVar[str] = "aliyun.com/gpu"
    models: ClassVar[str | None] = "aliyun.accelerator/nvidia_name"
    nodes: ClassVar[Mapping[str, str]] = {"ack.node.gpu.schedule": "topology"}

    model: LabelValue | None = None
    """Model, as ACK labels its nodes (`aliyun.accelerator/nvidia_name`): `Tesla-V100-SXM2-16GB`. If omitted, any."""
