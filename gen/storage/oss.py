"""Alibaba Cloud OSS buckets, through ossfs. Suitable for datasets; checkpoints and logs need a POSIX file system.

Attributes: kubernetes-sigs/alibaba-cloud-csi-driver, `pkg/oss/utils.go` and `docs/oss.md`.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import model_validator

from gen.kubernetes import Body, present
from gen.model.names import MountPath, ObjectName
from gen.model.scalars import Text, conflict, matching, shown
from gen.model.validators import JsonForm
from gen.regex import regex
from gen.storage.base import StaticProfile, Volume, csi

Options = Annotated[
    str,
    matching(
        regex(r"(-o \S+)( -o \S+)*"),
        1024,
        "options of the form `-o name=value`",
        "separate options with spaces; the driver rejects any other form",
    ),
    JsonForm({"title": "options", "type": "string"}),
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
