"""Instances of NVIDIA GPUs that are partitioned with MIG.

The device plugin's `mixed` strategy names the profile in the resource; under `single` every instance of a node has the
same profile, and the resource is that of whole GPUs (its `README.md`, "MIG").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from gen.accelerators.base import AcceleratorProfile, Request, one_share, tolerated
from gen.accelerators.nvidia import NVIDIA_GPU
from gen.model.effect import Effect
from gen.model.profile import Problem
from gen.model.scalars import matching
from gen.model.validators import JsonForm
from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Mapping

MigProfile = Annotated[
    str,
    matching(regex(r"[1-7]g\.[1-9][0-9]{0,2}gb(\.me)?"), 16, "a MIG profile", "use a form like `3g.40gb`"),
    JsonForm({"title": "MIG profile", "type": "string"}),
]


class Mig(AcceleratorProfile):
    """Instances of NVIDIA GPUs that are partitioned with MIG. A pod gets one; pods cannot train together on them."""

    short: ClassVar[str] = "profile"

    profile: MigProfile
    """Profile of the instances, such as `3g.40gb`."""
    strategy: Literal["mixed", "single"] = "mixed"
    """Strategy of the device plugin."""

    @property
    def _resource(self) -> str:
        return f"nvidia.com/mig-{self.profile}" if self.strategy == "mixed" else NVIDIA_GPU

    def units(self) -> Mapping[str, int]:
        return {self._resource: 1}

    def effect(self, count: int) -> Effect:
        # under `single`, feature discovery labels the nodes of each profile, such as `A100-SXM4-40GB-MIG-1g.5gb`
        return Effect(resources={self._resource: str(count)}, tolerations=tolerated(NVIDIA_GPU))

    def problem(self, request: Request) -> Problem | None:
        return one_share("MIG instance", request)
