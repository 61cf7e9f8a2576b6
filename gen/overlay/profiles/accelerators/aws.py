"""AWS Trainium and Inferentia, through the Neuron device plugin (Neuron documentation, "containers")."""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from typing import ClassVar, Literal

from gen.job.profile import Effect
from gen.overlay.profiles.accelerators import AcceleratorProfile, toleration_of

_TAINT = "aws.amazon.com/neuron"


class Neuron(AcceleratorProfile):
    """AWS Trainium and Inferentia."""

    short: ClassVar[str] = "unit"

    one_process: ClassVar[bool] = False

    unit: Literal["device", "core"] = "device"
    """Unit of `gpus`: whole devices or cores."""

    @property
    def _resource(self) -> str:
        return "aws.amazon.com/neuron" if self.unit == "device" else "aws.amazon.com/neuroncore"

    def effect(self, count: int) -> Effect:
        return Effect(resources={self._resource: str(count)}, tolerations=toleration_of(_TAINT))
