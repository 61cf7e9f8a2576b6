"""The network profile `mesh`."""

from __future__ import annotations

from typing import ClassVar

from gen.model.effect import Effect
from gen.model.scalars import Text
from gen.networks.base import NetworkProfile


class Mesh(NetworkProfile):
    """Mesh network."""

    short: ClassVar[str] = "name"

    name: Text
    """Name of the mesh."""

    def effect(self) -> Effect:
        return Effect(annotations={"acme.example.com/mesh": self.name})
