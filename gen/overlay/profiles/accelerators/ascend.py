"""Huawei Ascend NPUs, through Ascend's device plugin and Volcano (Ascend documentation, "MindCluster").

910 modules serve 1, 2, 4 or 8 devices of a pod, because of their rings; a job of several pods uses whole nodes.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from typing import ClassVar, Literal

from gen.job.names import LabelValue
from gen.job.profile import Effect, Problem
from gen.job.scalars import Positive
from gen.kubernetes.facts.volcano import SCHEDULER
from gen.overlay.profiles.accelerators import AcceleratorProfile, Request

_RINGS = (1, 2, 4, 8)


class Ascend(AcceleratorProfile):
    """Huawei Ascend NPUs. Their pods are placed by Volcano."""

    short: ClassVar[str] = "device"
    # Ascend Docker Runtime mounts nothing for `void` (MindCluster documentation, "Ascend Docker Runtime")
    hidden_by: ClassVar[str] = "ASCEND_VISIBLE_DEVICES"

    device: Literal["910", "910B", "310P"]
    """Family of the device."""
    accelerator_type: LabelValue | None = None
    """Value of the node label `accelerator-type`, such as `module-910b-8` or `card-910b-2`."""
    host_arch: Literal["huawei-arm", "huawei-x86"] | None = None
    """Value of the node label `host-arch`."""
    devices_per_node: Positive = 8
    """Devices of a node. Pods of a distributed job must request all devices."""

    @property
    def _resource(self) -> str:
        return "huawei.com/Ascend310P" if self.device == "310P" else "huawei.com/Ascend910"

    def effect(self, count: int) -> Effect:
        labels = {"accelerator-type": self.accelerator_type, "host-arch": self.host_arch}
        return Effect(
            resources={self._resource: str(count)},
            labels={"ring-controller.atlas": f"ascend-{self.device.lower()}"},
            node_labels={key: value for key, value in labels.items() if value is not None},
            scheduler=SCHEDULER,
        )

    def problem(self, request: Request) -> Problem | None:
        if request.pods > 1 and request.count != self.devices_per_node:
            message = f"{request.pods} pods with {request.count} NPUs each do not use whole nodes"
            return Problem(message, f"set `gpus: {self.devices_per_node}`, or use one pod")
        if request.count > self.devices_per_node:
            message = f"a node has {self.devices_per_node} NPUs, fewer than the {request.count} of a pod"
            return Problem(message, f"set `gpus` to at most {self.devices_per_node}, and use more `workers`")
        if self.device == "910" and request.count not in _RINGS and request.count < _RINGS[-1]:
            return Problem(f"a pod cannot use {request.count} NPUs of an Ascend 910", "use 1, 2, 4 or 8 `gpus`")
        return None
