"""What every model of user input has in common, and the choice between a short and a long form."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Discriminator, Tag
from pydantic.alias_generators import to_camel


class Model(BaseModel):
    """Strict, immutable, camelCase outside. The text below a field is its description in schemas and docs."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, defer_build=True)

    def __hash__(self) -> int:
        """Coarse, but enough for pydantic not to copy a default that is itself a model into every instance."""
        return hash(type(self))


def _by_mapping(value: Any) -> str:
    return "<long>" if isinstance(value, (dict, BaseModel)) else "<short>"


def _by_list(value: Any) -> str:
    return "<long>" if isinstance(value, (list, tuple)) else "<short>"


# With a discriminator pydantic reports the errors of the form that was written, not of every form. Its tag enters
# the route of an error; the angle brackets tell it from a key of the file.
ShortForm = Tag("<short>")
LongForm = Tag("<long>")
ScalarOrMapping = Discriminator(_by_mapping)
ScalarOrList = Discriminator(_by_list)
