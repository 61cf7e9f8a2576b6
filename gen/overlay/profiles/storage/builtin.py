"""Volumes without a provider: NFS, directories of nodes, scratch space, claims, StorageClasses and any CSI driver.

The baseline Pod Security Standard forbids `hostPath`, so a namespace needs a grant, for `local` as well. The API server
requires a node affinity of `local` only (Kubernetes documentation of volumes). The reclaim policy of a StorageClass
decides how long data is kept. Claims exist already and are referenced by name.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Mapping
from typing import ClassVar, Literal

from gen.job.names import LabelValue, MountPath, ObjectName
from gen.job.scalars import Bytes, Text
from gen.kubernetes.objects import HOSTNAME, Body, present
from gen.overlay.profiles import storage


class NFS(storage.StaticProfile):
    """NFS export."""

    server: storage.Server
    """Host name or address of the NFS server."""
    path: MountPath
    """Exported directory; it must exist."""

    def persistent_source(self, volume: storage.Volume) -> Body:
        return {"nfs": present(server=self.server, path=self.path, readOnly=volume.read_only or None)}


class HostPath(storage.StorageProfile):
    """Directory on the node of the pod, for single-node clusters or data that exists on every node."""

    short: ClassVar[str] = "path"
    grant: ClassVar[str] = "hostPath"

    path: MountPath
    """Directory on the node."""
    type: Literal["Directory", "DirectoryOrCreate"] = "Directory"
    """Whether the directory must exist or is created."""

    def pod_source(self, volume: storage.Volume) -> Body:
        return {"hostPath": {"path": self.path, "type": self.type}}


class Local(storage.StaticProfile):
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

    def persistent_source(self, volume: storage.Volume) -> Body:
        return {"local": {"path": self.path}}


class EmptyDir(storage.StorageProfile):
    """Empty directory per pod, deleted with the pod."""

    outlives_pods: ClassVar[bool] = False

    size_limit: Bytes | None = None
    """Size limit. A pod that exceeds it is evicted."""
    medium: Literal["Memory"] | None = None
    """`Memory` stores it in RAM, where it counts against the memory of the container."""

    def pod_source(self, volume: storage.Volume) -> Body:
        return {"emptyDir": present(medium=self.medium, sizeLimit=self.size_limit)}


class Claim(storage.StorageProfile):
    """Existing PersistentVolumeClaim in the job's namespace."""

    short: ClassVar[str] = "name"

    name: ObjectName
    """Name of the claim."""

    def pod_source(self, volume: storage.Volume) -> Body:
        return {"persistentVolumeClaim": present(claimName=self.name, readOnly=volume.read_only or None)}


class StorageClass(storage.ClaimedProfile):
    """Volume provisioned by a StorageClass. Use a class with the reclaim policy `Retain`."""

    short: ClassVar[str] = "name"

    name: ObjectName
    """Name of the StorageClass."""

    def objects(self, volume: storage.Volume) -> tuple[Body, ...]:
        return (storage.persistent_volume_claim(volume, self.name),)


class CSI(storage.StaticProfile):
    """Existing volume of any CSI driver."""

    driver: ObjectName
    """Name of the driver."""
    handle: Text | None = None
    """Handle of the volume. [default: the name of the PersistentVolume, which is different in each namespace]"""
    attributes: dict[Text, Text] = {}
    """Attributes of the volume."""
    fs_type: Text | None = None
    """Type of the file system."""
    secret: ObjectName | None = None
    """Secret in the job's namespace for the mount into a pod (`nodePublishSecretRef`)."""
    stage_secret: ObjectName | None = None
    """Secret in the job's namespace for the mount on a node (`nodeStageSecretRef`)."""

    def persistent_source(self, volume: storage.Volume) -> Body:
        return storage.csi(
            self.driver,
            volume,
            dict(sorted(self.attributes.items())),
            handle=self.handle,
            fs_type=self.fs_type,
            secret=self.secret,
            stage_secret=self.stage_secret,
        )
