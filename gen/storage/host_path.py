"""Directory on the node. The baseline Pod Security Standard forbids it, so a namespace needs a grant."""

from __future__ import annotations

from typing import ClassVar, Literal

from gen.kubernetes import Body
from gen.model.names import MountPath
from gen.storage.base import StorageProfile, Volume


class HostPath(StorageProfile):
    """Directory on the node of the pod, for single-node clusters or data that exists on every node."""

    short: ClassVar[str] = "path"
    grant: ClassVar[str] = "hostPath"

    path: MountPath
    """Directory on the node."""
    type: Literal["Directory", "DirectoryOrCreate"] = "Directory"
    """Whether the directory must exist or is created."""

    def pod_source(self, volume: Volume) -> Body:  # noqa: ARG002 - a directory is the same for everyone
        return {"hostPath": {"path": self.path, "type": self.type}}
