"""Elastic network interfaces of pods on Tencent's TKE, in addition to its GlobalRouter network.

TKE documentation (document 457), VPC-CNI as an add-on: the annotation selects the interface, and a webhook of TKE adds
the resource. Clusters with VPC-CNI as their network need neither.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from typing import ClassVar, Literal

from gen.job.profile import Effect
from gen.job.scalars import Truth
from gen.overlay.profiles.networks import PodInterfaces

_NETWORKS = {"shared": "tke-route-eni", "exclusive": "tke-direct-eni"}
_RESOURCES = {"shared": "tke.cloud.tencent.com/eni-ip", "exclusive": "tke.cloud.tencent.com/direct-eni"}


class TkeEni(PodInterfaces):
    """Elastic network interface (ENI) for each pod on TKE, of its own or shared."""

    short: ClassVar[str] = "mode"
    platform: ClassVar[str] = "Tencent Cloud"

    mode: Literal["shared", "exclusive"]
    """`shared`: an address of an interface of the node. `exclusive`: an interface for the pod alone."""
    request: Truth = False
    """Request the interface of training pods as a resource, for clusters without the webhook that adds it."""

    def effect(self, gpus: int) -> Effect:
        return Effect(
            annotations={"tke.cloud.tencent.com/networks": _NETWORKS[self.mode]},
            resources={_RESOURCES[self.mode]: "1"} if self.request else {},
        )
