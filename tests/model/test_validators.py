"""Annotations that mean what those of pydantic mean, and names of fields as pydantic makes them."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import pytest
from pydantic import AfterValidator, BeforeValidator, TypeAdapter, ValidationError, WithJsonSchema
from pydantic.alias_generators import to_camel

from gen.gitops.model import Gitops
from gen.kinds import KINDS
from gen.model.annotations import reachable
from gen.model.base import Model, OrMapping
from gen.model.scalars import Count, Text
from gen.model.validators import After, Before, JsonForm, WhenGiven
from gen.overlay.fields import OverlayFields, overlay_fields

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema


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


class Inner(Model):
    size: Count


class Outer(Model):
    one: WhenGiven[Inner] | None = None
    named: dict[str, OrMapping[Text, Inner]] = {}


class Whole(Model):
    """The same fields, with the inner model as a part of this one."""

    one: Inner | None = None
    named: dict[str, Text | Inner] = {}


@pytest.mark.parametrize("one", [{"size": 1}, {"size": "x"}, {"size": 1, "other": 2}, {}, "text", [1], None])
def test_a_model_that_is_built_when_it_is_given_has_the_same_errors(one: object) -> None:
    found, expected = (_validated(TypeAdapter(model), {"one": one}) for model in (Outer, Whole))
    assert found == expected or (isinstance(found, Outer) and found.model_dump() == Whole(one=one).model_dump())  # type: ignore[arg-type]


def test_errors_of_both_forms_have_their_places() -> None:
    errors = _validated(TypeAdapter(Outer), {"named": {"a": {"size": "x"}, "b": {"size": 1, "more": 1}}, "one": {}})
    assert isinstance(errors, list)
    assert [[step for step in error["loc"] if step.isascii()] for error in errors] == [
        ["one", "size"],
        ["named", "a", "size"],
        ["named", "b", "more"],
    ]


def test_a_model_is_built_when_it_is_given() -> None:
    class Rare(Model):
        size: Count

    class Usual(Model):
        rare: WhenGiven[Rare] | None = None

    assert Usual.model_validate({}).rare is None
    assert not Rare.__pydantic_complete__
    assert Usual.model_validate({"rare": {"size": "3"}}).rare == Rare(size=3)
    assert Rare.__pydantic_complete__


class Counted:
    def __init__(self) -> None:
        self.built: list[Any] = []

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        self.built.append(source)
        return handler(source)


def test_an_inherited_field_is_built_once_and_one_with_another_type_by_itself() -> None:
    counted = Counted()

    class Base(Model):
        size: Annotated[int, counted]

    class One(Base):
        more: int = 0

    class Other(Base):
        size: Annotated[str, counted]  # type: ignore[assignment] # as models of overlays change fields

    assert [One(size=1).size, Base(size=2).size, Other(size="a").size] == [1, 2, "a"]
    assert counted.built == [int, str]


@pytest.mark.parametrize("model", reachable([*KINDS.values(), OverlayFields, Gitops]), ids=lambda model: model.__name__)
def test_a_default_is_the_model_without_any_field(model: type[Model]) -> None:
    for field in model.model_fields.values():
        if isinstance(default := field.default, Model) and not default.model_fields_set:
            assert default == type(default)()


def test_annotations_of_class_variables_are_not_compiled_for_each_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Class variables of `Model` and of those between are annotations of each model to pydantic."""
    compiled: list[str] = []

    def counted(text: str, *others: Any) -> Any:
        compiled.append(text)
        return compile(text, *others)

    monkeypatch.setattr(typing, "compile", counted, raising=False)

    class Between(Model):
        words: ClassVar[tuple[str, ...]] = ()
        own: Text = ""

    class Below(Between):
        more: ClassVar[int] = 1

    assert compiled == ["Text"]
    assert list(Below.model_fields) == ["own"]
    assert (Below.words, Below.more, Below.synonyms) == ((), 1, {})
