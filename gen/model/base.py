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


SHORT, LONG = "\ufdd1", "\ufdd2"
"""Tags of the two forms of a value. They enter the route of an error, and no key of a file can be like them."""


def _by_mapping(value: Any) -> str:
    return LONG if isinstance(value, (dict, BaseModel)) else SHORT


def _by_list(value: Any) -> str:
    return LONG if isinstance(value, (list, tuple)) else SHORT


# With a discriminator pydantic reports the errors of the form that was written, not of every form.
ShortForm = Tag(SHORT)
LongForm = Tag(LONG)
ScalarOrMapping = Discriminator(_by_mapping)
ScalarOrList = Discriminator(_by_list)
