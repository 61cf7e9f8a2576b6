"""Alibaba Cloud NAS and CPFS through the NAS driver, and OSS buckets through ossfs. Static volumes only.

Attributes: kubernetes-sigs/alibaba-cloud-csi-driver, `pkg/nas/nodeserver.go`, `pkg/nas/utils.go`, `pkg/oss/utils.go`,
`docs/oss.md`, and its README on the removed `cpfsplugin`. OSS is for datasets; checkpoints and logs need a POSIX file
system. The driver replaced the FlexVolume `alicloud/nas`.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from typing import Annotated, Literal, Self

from pydantic import model_validator

from gen.base import regex
from gen.job.names import PATH, MountPath, ObjectName
from gen.job.scalars import Text, conflict, matching, schema, shown
from gen.kubernetes.objects import Body, present
from gen.overlay.profiles.storage import Server, StaticProfile, Volume, csi

OctalMode = Annotated[
    str,
    matching(
        regex(r"[0-7]{3}"),
        3,
        "three octal digits",
        "use a form like `755`",
        form=schema("octal digits", "string", "integer"),
    ),
]


class NAS(StaticProfile):
    """Alibaba Cloud NAS, mounted through its CSI driver."""

    server: Server
    """Mount target in the VPC of the cluster, such as `0123-abc.cn-hangzhou.nas.aliyuncs.com`."""
    path: MountPath = "/"
    """Directory on the file system. The driver creates it if it is missing."""
    vers: Literal["3", "4.0", "4.1"] | None = None
    """NFS version. The driver defaults to 3."""
    mode: OctalMode | None = None
    """Permissions to set on the directory at each mount. Not supported for `/`."""
    mode_type: Literal["recursive", "non-recursive"] | None = None
    """Whether to set `mode` recursively, which is slow for large directory trees."""

    @model_validator(mode="after")
    def _mode_needs_a_directory(self) -> Self:
        if self.mode is not None and self.path == "/":
            raise conflict("`mode` is not supported for `path: /`", "remove `mode`, or set `path` to a directory")
        if self.mode_type is not None and self.mode is None:
            raise conflict("`modeType` has no effect without `mode`", "add `mode`, such as `755`, or remove `modeType`")
        return self

    def persistent_source(self, volume: Volume) -> Body:
        attributes = present(
            server=self.server, path=self.path, vers=self.vers, mode=self.mode, modeType=self.mode_type
        )
        return csi("nasplugin.csi.alibabacloud.com", volume, attributes)


Options = Annotated[
    str,
    matching(
        regex(r"(-o \S+)( -o \S+)*"),
        1024,
        "options of the form `-o name=value`",
        "separate options with spaces; the driver rejects any other form",
        form=schema("options", "string"),
    ),
]


class OSS(StaticProfile):
    """Alibaba Cloud OSS bucket, mounted through ossfs."""

    bucket: Text
    """Bucket name."""
    url: Text
    """Endpoint of the region, such as `oss-cn-hangzhou-internal.aliyuncs.com`, without the bucket."""
    path: MountPath = "/"
    """Directory in the bucket."""
    secret: ObjectName | None = None
    """Secret in the job's namespace with the keys `akId` and `akSecret`."""
    role: Text | None = None
    """RAM role to use instead of a Secret (RRSA)."""
    fuse_type: Literal["ossfs", "ossfs2"] | None = None
    """FUSE client. ossfs2 supports only reads and appends."""
    other_opts: Options | None = None
    """Client options, such as `-o max_stat_cache_size=0`."""

    @model_validator(mode="after")
    def _endpoint_and_identity(self) -> Self:
        if self.bucket in self.url.removeprefix("https://").removeprefix("http://").split(".", 1)[0]:
            raise conflict(f"`url` contains the bucket name: {shown(self.url)}", "set `url` to the endpoint only")
        if (self.secret is None) == (self.role is None):
            raise conflict(
                "expected exactly one of `secret` and `role`",
                "set `secret` to the Secret with the access key, or `role` to a RAM role",
            )
        return self

    def persistent_source(self, volume: Volume) -> Body:
        attributes = present(
            bucket=self.bucket,
            url=self.url,
            path=self.path,
            fuseType=self.fuse_type,
            otherOpts=self.other_opts,
            authType="rrsa" if self.role else None,
            roleName=self.role,
        )
        return csi("ossplugin.csi.alibabacloud.com", volume, attributes, secret=self.secret)


SharePath = Annotated[
    str,
    matching(
        regex(rf"/share(?:{PATH})*"),
        4096,
        "a path below `/share`",
        "CPFS exports nothing else",
        form=schema("path below /share", "string", pattern="^/share"),
    ),
]


class CPFS(StaticProfile):
    """Alibaba Cloud CPFS, mounted through the NAS driver."""

    server: Server
    """Mount target of the protocol service in the VPC of the cluster."""
    path: SharePath = "/share"
    """Directory below `/share`."""
    protocol: Literal["cpfs-nfs", "efc"] = "cpfs-nfs"
    """Client: NFS in the kernel, or Alibaba Cloud's EFC."""

    def persistent_source(self, volume: Volume) -> Body:
        attributes = {"server": self.server, "path": self.path, "mountProtocol": self.protocol}
        return csi("nasplugin.csi.alibabacloud.com", volume, attributes)
