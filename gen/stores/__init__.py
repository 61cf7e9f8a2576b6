"""Registry of the services of object stores, one file each. See `docs/extending.md`."""

from __future__ import annotations

from typing import Final

from gen.model.registry import LazyRegistry
from gen.stores.base import StoreProfile

STORES: Final[LazyRegistry[StoreProfile]] = LazyRegistry(
    {
        "cos": "gen.stores.cos:COSStore",
        "gs": "gen.stores.gs:GSStore",
        "oss": "gen.stores.oss:OSSStore",
        "s3": "gen.stores.s3:S3Store",
    }
)

__all__ = ["STORES", "StoreProfile"]
