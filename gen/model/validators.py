"""Validators and JSON Schemas for annotations of fields.

They mean what those of pydantic mean. Pydantic inspects the signature of each function, and looks for constraints in
each annotation, whenever it builds a model with such a field; without that, models are built in half the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema
from pydantic_core import core_schema

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler


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
