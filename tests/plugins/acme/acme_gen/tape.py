"""The storage profile `tape`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.model.scalars import Text
from gen.storage.base import StaticProfile

if TYPE_CHECKING:
    from gen.kubernetes import Body
    from gen.storage.base import Volume


class Tape(StaticProfile):
    """Tape library."""

    library: Text
    """Name of the library."""

    def persistent_source(self, volume: Volume) -> Body:
        return {"csi": {"driver": "tape.acme.example.com", "volumeHandle": f"{self.library}/{volume.name}"}}
