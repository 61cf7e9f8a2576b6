"""JuiceFS, through its CSI driver. The credentials of the file system are in a Secret.

Source: https://juicefs.com/docs/csi/guide/pv/, static provisioning.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from gen.job.names import ObjectName
from gen.kubernetes.objects import Body
from gen.overlay.profiles.storage import StaticProfile, Volume, csi


class JuiceFS(StaticProfile):
    """JuiceFS file system. Set `subdir=data` or `cache-size=…` in `mountOptions`."""

    secret: ObjectName
    """Secret in the job's namespace with `name`, `metaurl` and the keys of the bucket, or with `name` and `token`."""

    def persistent_source(self, volume: Volume) -> Body:
        return csi("csi.juicefs.com", volume, {}, secret=self.secret, fs_type="juicefs")
