"""NVIDIA GPUs through NVIDIA's device plugin or GPU operator: whole, shared by time slicing or MPS, or MIG instances.

`README.md` of the device plugin, "Shared access to GPUs" and "MIG": its `mixed` strategy names the MIG profile in the
resource; under `single` every instance of a node has the same profile, and the resource is that of whole GPUs.
Shares by memory and compute power come from the vGPU schedulers HAMi and Volcano. The webhook of HAMi selects the
scheduler (HAMi, `README.md`); only Volcano's scheduler places the shares of its device plugin (its user guide).
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from gen.base import regex
from gen.job.names import LabelValue, ResourceName
from gen.job.profile import Effect, Problem
from gen.job.scalars import Percentage, Positive, matching, schema
from gen.kubernetes.facts.volcano import SCHEDULER
from gen.kubernetes.objects import NVIDIA_GPU, NVIDIA_PRODUCT, Body
from gen.overlay.profiles.accelerators import AcceleratorProfile, Request, WholeGpus, one_share, toleration_of


class Nvidia(WholeGpus):
    """Whole NVIDIA GPUs."""

    resource: ClassVar[str] = NVIDIA_GPU
    models: ClassVar[str | None] = NVIDIA_PRODUCT
    tolerations: ClassVar[tuple[Body, ...]] = toleration_of(NVIDIA_GPU)

    model: LabelValue | None = None
    """Model, as GPU feature discovery labels its nodes: `NVIDIA-H100-80GB-HBM3`. If omitted, any."""


class TimeSliced(AcceleratorProfile):
    """Shares of NVIDIA GPUs by time slicing or MPS, without isolation of memory. Intended for development."""

    short: ClassVar[str] = "resource"

    resource: ResourceName = "nvidia.com/gpu.shared"
    """Extended resource: `nvidia.com/gpu.shared` if the plugin renames it, otherwise `nvidia.com/gpu`."""

    def effect(self, count: int) -> Effect:
        return Effect(resources={self.resource: str(count)}, tolerations=toleration_of(NVIDIA_GPU))

    def problem(self, request: Request) -> Problem | None:
        return one_share("share of a GPU", request)


MigProfile = Annotated[
    str,
    matching(
        regex(r"[1-7]g\.[1-9][0-9]{0,2}gb(\.me)?"),
        16,
        "a MIG profile",
        "use a form like `3g.40gb`",
        form=schema("MIG profile", "string"),
    ),
]


_MIG: Final = "nvidia.com/mig-"


class Mig(AcceleratorProfile):
    """Instances of NVIDIA GPUs that are partitioned with MIG. A pod gets one; pods cannot train together on them."""

    short: ClassVar[str] = "profile"

    profile: MigProfile
    """Profile of the instances, such as `3g.40gb`."""
    strategy: Literal["mixed", "single"] = "mixed"
    """Strategy of the device plugin."""

    @classmethod
    def of_pods(cls, resource: str, labels: Mapping[str, str], count: int) -> Body | None:
        profile = resource.removeprefix(_MIG)
        return {"profile": profile} if profile != resource else None

    @property
    def _resource(self) -> str:
        return f"{_MIG}{self.profile}" if self.strategy == "mixed" else NVIDIA_GPU

    def effect(self, count: int) -> Effect:
        # under `single`, feature discovery labels the nodes of each profile, such as `A100-SXM4-40GB-MIG-1g.5gb`
        return Effect(resources={self._resource: str(count)}, tolerations=toleration_of(NVIDIA_GPU))

    def problem(self, request: Request) -> Problem | None:
        return one_share("MIG instance", request)


class VirtualGpus(AcceleratorProfile):
    """Shares of GPUs: their number is one resource, the memory and compute power of each are two others."""

    number: ClassVar[str]
    """Extended resource that counts the shares."""
    parts: ClassVar[tuple[str, str]]
    """Extended resources for memory and compute power."""
    scheduler: ClassVar[str | None] = None
    """Scheduler that places the shares, if its webhook does not select it."""

    memory: Annotated[Positive, Field(le=1 << 20)] | None = None
    """Memory of each GPU in MiB. If omitted, all of it."""
    cores: Percentage | None = None
    """Compute power in percent of each GPU."""

    def effect(self, count: int) -> Effect:
        amounts = dict(zip(self.parts, (self.memory, self.cores), strict=True))
        shares = {name: str(amount) for name, amount in amounts.items() if amount is not None}
        return Effect(resources={self.number: str(count), **shares}, scheduler=self.scheduler)


class Hami(VirtualGpus):
    """Shares of NVIDIA GPUs, through HAMi."""

    number: ClassVar[str] = NVIDIA_GPU
    parts: ClassVar[tuple[str, str]] = ("nvidia.com/gpumem", "nvidia.com/gpucores")


class VolcanoVgpu(VirtualGpus):
    """Shares of NVIDIA GPUs, through Volcano."""

    number: ClassVar[str] = "volcano.sh/vgpu-number"
    parts: ClassVar[tuple[str, str]] = ("volcano.sh/vgpu-memory", "volcano.sh/vgpu-cores")
    scheduler: ClassVar[str | None] = SCHEDULER
