"""Base class of storage and network profiles. A profile is selected by its key in the overlay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct
from pydantic import Field, model_validator

from gen.model.base import Model

if TYPE_CHECKING:
    from collections.abc import Mapping


class Problem(Struct, frozen=True):
    """A request that the devices or the network of a profile cannot serve."""

    message: str
    hint: str


class Profile(Model):
    """A profile. Its fields are set below its key in the overlay."""

    short: ClassVar[str] = ""
    """Field that is set when the profile is written as a scalar."""
    grant: ClassVar[str] = ""
    """Permission that a namespace needs in `allow` to use the profile."""

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        return {cls.short: value} if cls.short and isinstance(value, str) else value


def profile_fields(registry: Mapping[str, type[Model]]) -> dict[str, Any]:
    """One field per profile in a registry, for pydantic's `create_model`."""
    return {
        key: (profile | None, Field(default=None, description=profile.__doc__)) for key, profile in registry.items()
    }


def chosen(fields: Model, registry: Mapping[str, type[Model]]) -> dict[str, Any]:
    """Profiles that are set in `fields`, by key."""
    return {key: value for key in registry if (value := getattr(fields, key, None)) is not None}
