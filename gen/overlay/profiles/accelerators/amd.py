"""AMD GPUs, through AMD's device plugin and its node labeller."""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from typing import ClassVar

from gen.job.names import LabelValue
from gen.kubernetes.objects import Body
from gen.overlay.profiles.accelerators import WholeGpus, toleration_of


class Amd(WholeGpus):
    """AMD GPUs."""

    resource: ClassVar[str] = "amd.com/gpu"
    models: ClassVar[str | None] = "amd.com/gpu.product-name"
    tolerations: ClassVar[tuple[Body, ...]] = toleration_of("amd.com/gpu")

    model: LabelValue | None = None
    """Model, as the node labeller names it (`amd.com/gpu.product-name`). If omitted, any."""
