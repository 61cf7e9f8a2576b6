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

    def effect(self, gpus: int) -> Effect:  # noqa: ARG002 - the same for every pod
        return Effect(annotations={"acme.example.com/mesh": self.name})
