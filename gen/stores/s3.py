"""Amazon S3, and stores with its interface. Settings: documentation of rclone 1.71, "Amazon S3"."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Literal

from gen.kubernetes import present
from gen.stores.base import Endpoint, Region, StoreProfile

if TYPE_CHECKING:
    from collections.abc import Mapping

TYPE: Final = "s3"


class S3Store(StoreProfile):
    """Amazon S3, or a store with its interface. The Secret has the keys `AWS_ACCESS_KEY_ID` and
    `AWS_SECRET_ACCESS_KEY`; without one, pods use the identity of their ServiceAccount or node.
    """

    short: ClassVar[str] = "region"
    keys: ClassVar[Mapping[str, str]] = {
        "ACCESS_KEY_ID": "AWS_ACCESS_KEY_ID",
        "SECRET_ACCESS_KEY": "AWS_SECRET_ACCESS_KEY",
    }

    region: Region | None = None
    """Region, such as `eu-central-1`."""
    endpoint: Endpoint | None = None
    """Address of a store that is not of Amazon."""
    provider: Literal["AWS", "Ceph", "HuaweiOBS", "Minio", "Other"] = "AWS"
    """Whose store it is."""

    def settings(self) -> Mapping[str, str]:
        return present(TYPE=TYPE, PROVIDER=self.provider, REGION=self.region, ENDPOINT=self.endpoint)
