"""Services of object stores, and their registry. See `docs/extending.md`.

A service has the settings of rclone and the keys of its credentials. rclone takes the settings of a remote from
variables `RCLONE_CONFIG_<REMOTE>_<SETTING>`, so no file with credentials is written (documentation of rclone 1.71,
"Config file", "Environment Variables" and the page of each service).
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal

from gen.base import LazyRegistry, regex
from gen.job.profile import Profile
from gen.job.scalars import Truth, matching, schema
from gen.kubernetes.objects import present

Region = Annotated[
    str,
    matching(
        regex(r"[a-z0-9]+(?:-[a-z0-9]+)*"),
        63,
        "a region",
        "use a name like `ap-guangzhou`",
        form=schema("region", "string"),
    ),
]
Endpoint = Annotated[
    str,
    matching(
        regex(r"(?:https?://)?[A-Za-z0-9](?:[-A-Za-z0-9.]*[A-Za-z0-9])?(?::[0-9]{1,5})?/?"),
        253,
        "the endpoint of an object store",
        "use a form like `https://minio.example.com:9000`, without a bucket",
        form=schema("endpoint", "string"),
    ),
]


class StoreProfile(Profile, ABC):
    """Service of object stores."""

    needs_secret: ClassVar[bool] = False
    """Whether it has no other identity than that of a Secret."""
    keys: ClassVar[Mapping[str, str]]
    """Keys of the Secret with the credentials, by the setting of rclone."""

    @abstractmethod
    def settings(self) -> Mapping[str, str]:
        """Settings of rclone, in capitals."""


STORES: Final[LazyRegistry[StoreProfile]] = LazyRegistry(
    {
        "cos": "gen.overlay.profiles.stores:COSStore",
        "gs": "gen.overlay.profiles.stores:GSStore",
        "oss": "gen.overlay.profiles.stores:OSSStore",
        "s3": "gen.overlay.profiles.stores:S3Store",
    }
)


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


class COSStore(StoreProfile):
    """Tencent Cloud COS. The Secret has the keys `SecretId` and `SecretKey`, like that of a volume with `cos`."""

    short: ClassVar[str] = "region"
    needs_secret: ClassVar[bool] = True
    keys: ClassVar[Mapping[str, str]] = {"ACCESS_KEY_ID": "SecretId", "SECRET_ACCESS_KEY": "SecretKey"}

    region: Region
    """Region, such as `ap-guangzhou`."""

    def settings(self) -> Mapping[str, str]:
        return {"TYPE": TYPE, "PROVIDER": "TencentCOS", "ENDPOINT": f"cos.{self.region}.myqcloud.com"}


class GSStore(StoreProfile):
    """Google Cloud Storage, such as `gs: {}`. The Secret has the key `key.json` of a service account; without one, pods
    use the identity of their ServiceAccount.
    """

    keys: ClassVar[Mapping[str, str]] = {"SERVICE_ACCOUNT_CREDENTIALS": "key.json"}

    def settings(self) -> Mapping[str, str]:
        # buckets with uniform access refuse requests with access lists
        return {"TYPE": "google cloud storage", "BUCKET_POLICY_ONLY": "true"}


class OSSStore(StoreProfile):
    """Alibaba Cloud OSS. The Secret has the keys `akId` and `akSecret`, like that of a volume with `oss`."""

    short: ClassVar[str] = "region"
    needs_secret: ClassVar[bool] = True
    keys: ClassVar[Mapping[str, str]] = {"ACCESS_KEY_ID": "akId", "SECRET_ACCESS_KEY": "akSecret"}

    region: Region
    """Region, such as `cn-hangzhou`."""
    internal: Truth = False
    """Use the endpoint for clients in the same region, which has no traffic costs."""

    def settings(self) -> Mapping[str, str]:
        inside = "-internal" if self.internal else ""
        return {"TYPE": TYPE, "PROVIDER": "Alibaba", "ENDPOINT": f"oss-{self.region}{inside}.aliyuncs.com"}
