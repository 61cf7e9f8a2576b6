"""Annotations that mean what those of pydantic mean, and names of fields as pydantic makes them."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BeforeValidator, TypeAdapter, ValidationError, WithJsonSchema
from pydantic.alias_generators import to_camel

from gen.kinds import KINDS
from gen.model.base import Model
from gen.model.validators import After, Before, JsonForm
from gen.overlay.fields import OverlayFields, overlay_fields


def _even(value: Any) -> Any:
    if int(value) % 2:
        raise ValueError("odd")
    return value


SCHEMA = {"title": "even", "type": "integer"}
OURS = TypeAdapter(Annotated[int, Before(_even), After(_even), JsonForm(SCHEMA)] | None)
THEIRS = TypeAdapter(Annotated[int, BeforeValidator(_even), AfterValidator(_even), WithJsonSchema(SCHEMA)] | None)


@pytest.mark.parametrize("value", ["8", 8, None, "7", 7, "x", 8.5])
def test_validators_give_what_those_of_pydantic_give(value: object) -> None:
    assert _validated(OURS, value) == _validated(THEIRS, value)


def _validated(adapter: TypeAdapter[Any], value: object) -> object:
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        return error.errors(include_context=False)


def test_the_schema_is_the_given_one() -> None:
    assert OURS.json_schema() == THEIRS.json_schema()


def test_names_of_fields_are_those_of_pydantic() -> None:
    models: list[type[Model]] = [OverlayFields, *KINDS.values()]
    fields = [(name, field) for model in models for name, field in model.model_fields.items()]
    assert any("_" in name for name, _ in fields)
    assert [field.alias for name, field in fields if field.alias_priority == 1] == [
        to_camel(name) for name, field in fields if field.alias_priority == 1
    ]


def test_only_fields_that_an_overlay_sets_are_built() -> None:
    model = overlay_fields({"kubernetes": "1.34"})
    assert model.model_fields["kubernetes"].annotation == OverlayFields.model_fields["kubernetes"].annotation
    assert model.model_fields["select"].annotation is Any
    assert model.model_validate({}).select == OverlayFields().select
