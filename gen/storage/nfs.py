"""NFS, through the built-in volume type of Kubernetes. No driver required."""

from __future__ import annotations

from gen.kubernetes import Body, present
from gen.model.names import MountPath
from gen.storage.base import StaticProfile, Volume
from gen.storage.nas import Server


class NFS(StaticProfile):
    """NFS export."""

    server: Server
    """Host name or address of the NFS server."""
    path: MountPath
    """Exported directory; it must exist."""

    def persistent_source(self, volume: Volume) -> Body:
        return {"nfs": present(server=self.server, path=self.path, readOnly=volume.read_only or None)}
