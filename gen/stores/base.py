"""The interface of a service of object stores: how rclone reaches it, and where its credentials are.

rclone takes the settings of a remote from variables `RCLONE_CONFIG_<REMOTE>_<SETTING>`, so no file with credentials is
written (documentation of rclone, "Config file" and "Environment Variables").
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Annotated, ClassVar

from gen.model.profile import Profile
from gen.model.scalars import matching, schema
from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Mapping

Region = Annotated[
    str,
    matching(regex(r"[a-z0-9]+(?:-[a-z0-9]+)*"), 63, "a region", "use a name like `ap-guangzhou`"),
    schema("region", "string"),
]
Endpoint = Annotated[
    str,
    matching(
        regex(r"(?:https?://)?[A-Za-z0-9](?:[-A-Za-z0-9.]*[A-Za-z0-9])?(?::[0-9]{1,5})?/?"),
        253,
        "the endpoint of an object store",
        "use a form like `https://minio.example.com:9000`, without a bucket",
    ),
    schema("endpoint", "string"),
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
