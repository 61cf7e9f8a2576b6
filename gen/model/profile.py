"""What storage and network profiles have in common: they are named by a key of the overlay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field, model_validator

from gen.model.base import Model

if TYPE_CHECKING:
    from collections.abc import Mapping


class Profile(Model):
    """One way to do something. Its fields are what the overlay says below the profile's key."""

    short: ClassVar[str] = ""
    """The field that is meant when a scalar stands where the mapping could."""
    grant: ClassVar[str] = ""
    """The word that must be in a namespace's `allow` before its jobs may use it."""

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        return {cls.short: value} if cls.short and isinstance(value, str) else value


def profile_fields(registry: Mapping[str, type[Model]]) -> dict[str, Any]:
    """A field for each profile of a registry, for pydantic's `create_model`."""
    return {
        key: (profile | None, Field(default=None, description=profile.__doc__)) for key, profile in registry.items()
    }


def chosen(fields: Model, registry: Mapping[str, type[Model]]) -> dict[str, Any]:
    """The profiles that were given in such fields."""
    return {key: value for key in registry if (value := getattr(fields, key)) is not None}
