"""Object stores of an overlay: `stores.<name>`, each of one service."""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, ClassVar, Self

from pydantic import model_validator

from gen.model.base import Model
from gen.model.names import ObjectName
from gen.model.profile import chosen, require_one
from gen.model.scalars import Truth, conflict, matching, schema
from gen.model.synonyms import STORE
from gen.model.transfer import StorePath
from gen.regex import regex
from gen.stores import STORES, StoreProfile

Bucket = Annotated[
    str,
    matching(
        regex(r"[a-z0-9](?:[-a-z0-9._]{1,220}[a-z0-9])"),
        222,
        "the name of a bucket",
        "use a name like `team-datasets`; write folders in `prefix`",
    ),
    schema("bucket", "string"),
]


class StoreFields(Model):
    """Bucket that jobs can copy from and to by name: one service, and settings that all services share. They limit what
    gen writes into pods. Jobs can read any Secret of their namespace, so its keys must have the same limits.
    """

    synonyms: ClassVar[Mapping[str, str]] = STORE
    main: ClassVar[str] = "bucket"

    bucket: Bucket
    """Name of the bucket."""
    prefix: StorePath | None = None
    """Folder of the bucket that jobs can use. Defaults to all of it."""
    secret: ObjectName | None = None
    """Secret in the job's namespace with the credentials. The service names its keys."""
    read_only: Truth = False
    """Only allow `inputs` from it."""

    @cached_property
    def given(self) -> dict[str, StoreProfile]:
        """The service by its key."""
        return chosen(self, STORES)

    @cached_property
    def profile(self) -> StoreProfile:
        return next(iter(self.given.values()))

    @model_validator(mode="after")
    def _one_service(self) -> Self:
        require_one(self, STORES, "service of object stores")
        (name,) = self.given
        if self.profile.needs_secret and self.secret is None:
            keys = " and ".join(f"`{key}`" for key in self.profile.keys.values())
            raise conflict(f"`{name}` requires a `secret`", f"add `secret`, the name of a Secret with the keys {keys}")
        return self
