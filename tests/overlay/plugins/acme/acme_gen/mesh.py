"""The network profile `mesh`."""

from __future__ import annotations

from typing import ClassVar

from gen.job.profile import Effect
from gen.job.scalars import Text
from gen.overlay.profiles.networks import NetworkProfile


class Mesh(NetworkProfile):
    """Mesh network."""

    short: ClassVar[str] = "name"

    name: Text
    """Name of the mesh."""

    def effect(self, gpus: int) -> Effect:
        return Effect(annotations={"acme.example.com/mesh": self.name})
