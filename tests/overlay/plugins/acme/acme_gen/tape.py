"""The storage profile `tape`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.job.scalars import Text
from gen.overlay.profiles.storage import StaticProfile, Volume

if TYPE_CHECKING:
    from gen.kubernetes.objects import Body


class Tape(StaticProfile):
    """Tape library."""

    library: Text
    """Name of the library."""

    def persistent_source(self, volume: Volume) -> Body:
        return {"csi": {"driver": "tape.acme.example.com", "volumeHandle": f"{self.library}/{volume.name}"}}
