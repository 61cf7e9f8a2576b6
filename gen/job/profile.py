"""Base class of profiles, and models that hold some by their keys."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, TypeVar

from msgspec import Struct
from pydantic import Field, create_model, model_validator

from gen.job.model import Model
from gen.job.scalars import conflict


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
    kubernetes: ClassVar[str] = ""
    """First Kubernetes version that it works with, such as `1.33`; empty if it works with all."""

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        return {cls.short: value} if cls.short and isinstance(value, str) else value


M = TypeVar("M", bound=Model)


def with_profiles(model: type[M], registry: Mapping[str, type[Model]], names: Collection[str]) -> type[M]:
    """The model with a field for each registered profile that is in `names`."""
    fields: dict[str, Any] = {
        key: (registry[key] | None, Field(default=None, description=registry[key].__doc__))
        for key in registry
        if key in names
    }
    return create_model(model.__name__.removesuffix("Fields"), __base__=model, __doc__=model.__doc__, **fields)


def chosen(fields: Model, registry: Mapping[str, type[Model]]) -> dict[str, Any]:
    """Profiles that are set in `fields`, by key."""
    given = registry.keys() & fields.model_fields_set  # of many profiles, one or two
    order = sorted(given, key=list(registry).index) if len(given) > 1 else given
    return {key: value for key in order if (value := getattr(fields, key)) is not None}


def require_one(fields: Model, registry: Mapping[str, type[Model]], what: str) -> None:
    """Refuse fields without exactly one profile."""
    if len(given := chosen(fields, registry)) != 1:
        names = " and ".join(f"`{key}`" for key in given) or "none"
        remedy = "set one of " + ", ".join(f"`{key}`" for key in sorted(registry))
        raise conflict(f"expected exactly one {what}, got {names}", remedy)
