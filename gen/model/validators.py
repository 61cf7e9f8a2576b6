"""Validators and JSON Schemas for annotations of fields.

They mean what those of pydantic mean. Pydantic inspects the signature of each function, and looks for constraints in
each annotation, whenever it builds a model with such a field; without that, models are built in half the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema
from pydantic_core import core_schema

if TYPE_CHECKING:
    from pydantic import BaseModel, GetCoreSchemaHandler


class Before(BeforeValidator):
    """A function of a value, called before the type is checked."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_before_validator_function(self.func, handler(source))  # type: ignore[arg-type]


class After(AfterValidator):
    """A function of a value, called after the type is checked."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(self.func, handler(source))  # type: ignore[arg-type]


class JsonForm(WithJsonSchema):
    """The JSON Schema of a type."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return handler(source)


class Once:
    """The last annotation of a field. It keeps the schema of the field for all models that inherit it."""

    def __init__(self) -> None:
        self._built: tuple[Any, core_schema.CoreSchema] | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        # a field can be made of another one, with a type of its own
        if self._built is not None and self._built[0] is source:
            return self._built[1]
        schema = handler(source)
        if not _refers(schema):
            self._built = source, schema
        return schema


def _refers(schema: Any) -> bool:
    """Whether a schema refers to a model, which is defined in that of the model that is built."""
    if isinstance(schema, dict):
        return schema.get("type") == "definition-ref" or any(map(_refers, schema.values()))
    return isinstance(schema, (list, tuple)) and any(map(_refers, schema))


MODEL = "gen_model"
"""Key of the model in the metadata of a field that has it only when a file gives one."""


class _WhenGiven:
    def __get_pydantic_core_schema__(self, source: type[BaseModel], _: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        metadata = {MODEL: source}
        return core_schema.no_info_plain_validator_function(source.model_validate, metadata=metadata)


M = TypeVar("M")
WhenGiven = Annotated[M, _WhenGiven()]
"""A model inside of another. It is built when the first file has it; a job has few of all that it can have."""
