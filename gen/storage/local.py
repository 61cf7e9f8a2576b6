"""Directory or disk of one node, as a PersistentVolume that schedules its pods there.

The API server requires the node affinity, and only `local` of the sources has it (Kubernetes documentation of volumes,
`local`). Baseline Pod Security covers pods only, so a namespace needs a grant as for `hostPath`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from gen.kubernetes import HOSTNAME
from gen.model.names import LabelValue, MountPath
from gen.storage.base import StaticProfile, Volume

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.kubernetes import Body


class Local(StaticProfile):
    """Directory or mounted disk of one node. Pods that mount it run on this node."""

    grant: ClassVar[str] = "local"
    settings: ClassVar[frozenset[str]] = frozenset({"size", "accessModes"})

    path: MountPath
    """Directory, or mount point of the disk. It must exist."""
    node: LabelValue
    """Node, by its label `kubernetes.io/hostname`."""

    @property
    def node_labels(self) -> Mapping[str, str]:
        return {HOSTNAME: self.node}

    def persistent_source(self, volume: Volume) -> Body:  # noqa: ARG002 - the access modes make it read-only
        return {"local": {"path": self.path}}
