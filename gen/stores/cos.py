"""Tencent Cloud COS. Settings: documentation of rclone 1.71, "Tencent COS"."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from gen.stores.base import Region, StoreProfile
from gen.stores.s3 import TYPE

if TYPE_CHECKING:
    from collections.abc import Mapping


class COSStore(StoreProfile):
    """Tencent Cloud COS. The Secret has the keys `SecretId` and `SecretKey`, like that of a volume with `cos`."""

    short: ClassVar[str] = "region"
    needs_secret: ClassVar[bool] = True
    keys: ClassVar[Mapping[str, str]] = {"ACCESS_KEY_ID": "SecretId", "SECRET_ACCESS_KEY": "SecretKey"}

    region: Region
    """Region, such as `ap-guangzhou`."""

    def settings(self) -> Mapping[str, str]:
        return {"TYPE": TYPE, "PROVIDER": "TencentCOS", "ENDPOINT": f"cos.{self.region}.myqcloud.com"}
