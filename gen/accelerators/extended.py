"""Devices of any vendor whose plugin counts them as an extended resource."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from gen.accelerators.base import AcceleratorProfile, tolerated
from gen.model.effect import Effect
from gen.model.names import ResourceName

if TYPE_CHECKING:
    from collections.abc import Mapping


class Extended(AcceleratorProfile):
    """Devices of any vendor, requested as an extended resource."""

    short: ClassVar[str] = "resource"

    resource: ResourceName
    """Extended resource of the device plugin. Its pods tolerate the taint with the same key."""

    def units(self) -> Mapping[str, int]:
        return {self.resource: 1}

    def effect(self, count: int) -> Effect:
        return Effect(resources={self.resource: str(count)}, tolerations=tolerated(self.resource))
