"""A directory of the node. Pod Security's baseline forbids it, so a namespace must be allowed to."""

from __future__ import annotations

from typing import ClassVar, Literal

from gen.kubernetes import Body
from gen.model.names import MountPath
from gen.storage.base import StorageProfile, Volume


class HostPath(StorageProfile):
    """A directory of the node that a pod runs on: for one-node clusters, or data that is on every node."""

    short: ClassVar[str] = "path"
    grant: ClassVar[str] = "hostPath"

    path: MountPath
    """Directory on the node."""
    type: Literal["Directory", "DirectoryOrCreate"] = "Directory"
    """Whether it must be there, or is made."""

    def pod_source(self, volume: Volume) -> Body:  # noqa: ARG002 - a directory is the same for everyone
        return {"hostPath": {"path": self.path, "type": self.type}}
