"""Alibaba Cloud OSS. Settings: documentation of rclone 1.71, "Alibaba OSS"."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from gen.model.scalars import Truth
from gen.stores.base import Region, StoreProfile
from gen.stores.s3 import TYPE

if TYPE_CHECKING:
    from collections.abc import Mapping


class OSSStore(StoreProfile):
    """Alibaba Cloud OSS. The Secret has the keys `akId` and `akSecret`, like that of a volume with `oss`."""

    short: ClassVar[str] = "region"
    needs_secret: ClassVar[bool] = True
    keys: ClassVar[Mapping[str, str]] = {"ACCESS_KEY_ID": "akId", "SECRET_ACCESS_KEY": "akSecret"}

    region: Region
    """Region, such as `cn-hangzhou`."""
    internal: Truth = False
    """Use the endpoint for clients in the same region, whose traffic is free."""

    def settings(self) -> Mapping[str, str]:
        inside = "-internal" if self.internal else ""
        return {"TYPE": TYPE, "PROVIDER": "Alibaba", "ENDPOINT": f"oss-{self.region}{inside}.aliyuncs.com"}
