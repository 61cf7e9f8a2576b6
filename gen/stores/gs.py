"""Google Cloud Storage. Settings: documentation of rclone 1.71, "Google cloud storage"."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from gen.stores.base import StoreProfile

if TYPE_CHECKING:
    from collections.abc import Mapping


class GSStore(StoreProfile):
    """Google Cloud Storage, such as `gs: {}`. The Secret has the key `key.json` of a service account; without one, pods
    use the identity of their ServiceAccount.
    """

    keys: ClassVar[Mapping[str, str]] = {"SERVICE_ACCOUNT_CREDENTIALS": "key.json"}

    def settings(self) -> Mapping[str, str]:
        # buckets with uniform access refuse requests with access lists
        return {"TYPE": "google cloud storage", "BUCKET_POLICY_ONLY": "true"}
