"""Models of files: the places of errors, defaults, and the model of an overlay."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from gen.job.kinds import KINDS
from gen.job.model import Model, OrMapping, reachable
from gen.job.profile import with_profiles
from gen.job.scalars import Count, Text
from gen.overlay.entries import GitopsFields
from gen.overlay.fields import OverlayFields, overlay_fields
from gen.overlay.profiles.engines import ENGINES
from tests.cases import for_each


def test_only_fields_that_an_overlay_sets_are_built() -> None:
    model = overlay_fields({"kubernetes": "1.34"})
    assert model.model_fields["kubernetes"].annotation == OverlayFields.model_fields["kubernetes"].annotation
    assert model.model_fields["select"].annotation is Any
    assert model.model_validate({}).select == OverlayFields().select


class Inner(Model):
    size: Count


class Outer(Model):
    one: Inner | None = None
    named: dict[str, OrMapping[Text, Inner]] = {}


def test_errors_of_both_forms_have_their_places() -> None:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate({"named": {"a": {"size": "x"}, "b": {"size": 1, "more": 1}}, "one": {}})
    errors = caught.value.errors()
    assert [[step for step in error["loc"] if str(step).isascii()] for error in errors] == [
        ["one", "size"],
        ["named", "a", "size"],
        ["named", "b", "more"],
    ]


@for_each(
    "model",
    reachable([*KINDS.values(), OverlayFields, with_profiles(GitopsFields, ENGINES, ENGINES)]),
    ids=lambda model: model.__name__,
)
def test_a_default_is_the_model_without_any_field(model: type[Model]) -> None:
    for field in model.model_fields.values():
        if isinstance(default := field.default, Model) and not default.model_fields_set:
            assert default == type(default)()
