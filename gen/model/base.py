"""Base class of all models of user input, and the choice between short and long forms."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - pydantic evaluates the annotations
from functools import cache
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, Discriminator, Tag

import gen.model.pydantic_plugins  # noqa: F401 - before pydantic builds a model
from gen.model.validators import Once, WhenGiven


@cache
def _camel(field: str) -> str:
    """A field in camelCase, as `to_camel` of pydantic gives it in ten times the time."""
    first, *others = field.split("_")
    return first + "".join(word.capitalize() for word in others)


def _hide_class_variables(cls: type[BaseModel]) -> None:
    """Omit the types of class variables, which pydantic does not use but compiles for each class below again."""
    for name, one in cls.__annotations__.items():
        if isinstance(one, str) and one.startswith("ClassVar["):
            cls.__annotations__[name] = ClassVar


class Model(BaseModel):
    """Strict and immutable, with camelCase aliases. A field's docstring is its description in schemas and docs."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=_camel,
        defer_build=True,
        protected_namespaces=(),  # fields may begin with `model_`, which pydantic would look for
    )

    synonyms: ClassVar[Mapping[str, str]] = {}
    """Names of other tools for these fields, from `gen.model.synonyms`."""
    main: ClassVar[str] = ""
    """Field that a scalar instead of the mapping is probably meant for; only used for hints."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Hide the types of class variables."""
        super().__init_subclass__(**options)
        _hide_class_variables(cls)

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        """Build each inherited field once for all models below."""
        super().__pydantic_init_subclass__(**options)
        for field in cls.model_fields.values():
            if not any(isinstance(one, Once) for one in field.metadata):
                field.metadata.append(Once())

    def __hash__(self) -> int:
        """Hash by type, so that pydantic does not copy a default that is a model into every instance."""
        return hash(type(self))


_hide_class_variables(Model)

M = TypeVar("M", bound=BaseModel)


def default(model: type[M]) -> M:
    """A model without any field of a file, made without building it: most files need no other."""
    return model.model_construct()


@cache
def alias_of(model: type[Model], field: str) -> str:
    """Name of a field in files."""
    return str(model.model_fields[field].alias)


@cache
def aliases_of(model: type[Model]) -> Mapping[str, str]:
    """Names in files of all fields of a model, by field, in the order of the model."""
    return {field: alias_of(model, field) for field in model.model_fields}


@cache
def default_of(model: type[Model], field: str) -> Any:
    """The value of a field that is not set."""
    return model.model_fields[field].get_default(call_default_factory=True)


SHORT, LONG = "\ufdd1", "\ufdd2"
"""Tags of the two forms of a value. They appear in the route of an error. No key in a file can equal them."""


def _by_mapping(value: Any) -> str:
    return LONG if isinstance(value, (dict, BaseModel)) else SHORT


def _by_list(value: Any) -> str:
    return LONG if isinstance(value, (list, tuple)) else SHORT


# With a discriminator, pydantic reports errors only for the form that was used.
ShortForm = Tag(SHORT)
LongForm = Tag(LONG)
ScalarOrMapping = Discriminator(_by_mapping)
ScalarOrList = Discriminator(_by_list)

Short = TypeVar("Short")
Long = TypeVar("Long")
OrMapping = Annotated[Annotated[Short, ShortForm] | Annotated[WhenGiven[Long], LongForm], ScalarOrMapping]
"""A scalar, or a model with all fields."""
