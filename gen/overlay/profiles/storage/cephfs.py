"""CephFS, through its CSI driver.

Attributes: ceph/ceph-csi, `docs/static-pvc.md`. The driver neither resizes nor deletes such volumes.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from gen.job.names import MountPath, ObjectName
from gen.job.scalars import Text
from gen.kubernetes.objects import Body, present
from gen.overlay.profiles.storage import StaticProfile, Volume, csi


class CephFS(StaticProfile):
    """Existing directory of a CephFS file system."""

    cluster: Text
    """Key of the cluster in the configuration of the driver (`clusterID`)."""
    path: MountPath
    """Directory on the file system."""
    secret: ObjectName
    """Secret in the job's namespace with the keys `userID` and `userKey`."""
    file_system: Text | None = None
    """Name of the file system, if the cluster has several."""
    driver: ObjectName = "cephfs.csi.ceph.com"
    """Name of the driver. Rook puts its namespace in front: `rook-ceph.cephfs.csi.ceph.com`."""

    def persistent_source(self, volume: Volume) -> Body:
        attributes = present(clusterID=self.cluster, fsName=self.file_system, rootPath=self.path, staticVolume="true")
        return csi(self.driver, volume, attributes, stage_secret=self.secret)
