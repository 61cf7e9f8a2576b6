"""Look up fields and nested models in the type annotations of models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum, auto
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeGuard, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from gen.base.findings import Route

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo


class Form(Enum):
    """Form of a composite value."""

    FIELDS = auto()
    KEYS = auto()
    """A mapping with keys chosen by the author."""
    LIST = auto()


def fields_at(model: type[BaseModel], route: Route) -> list[str]:
    """Names of the fields at `route` in a model."""
    return [field.alias or name for found in _at(model, route) for name, field in _fields(found)]


def accepts(model: type[BaseModel], route: Route, value: object) -> bool:
    """Whether the field at `route` can have the value."""
    from pydantic import TypeAdapter

    for annotation in _at(model, route):
        try:
            TypeAdapter(annotation).validate_python(value)
        except ValidationError:
            continue
        return True
    return False


def models_at(model: type[BaseModel], route: Route) -> list[type[BaseModel]]:
    """The models that the value at `route` can have."""
    return [found for outer in _at(model, route) for found in _alternatives(outer) if _is_model(found)]


def form_at(model: type[BaseModel], route: Route) -> Form:
    """Form of the value at `route` in a model."""
    origins = [get_origin(candidate) for found in _at(model, route) for candidate in _alternatives(found)]
    return Form.KEYS if dict in origins else Form.LIST if tuple in origins else Form.FIELDS


def _at(model: type[BaseModel], route: Route) -> list[Any]:
    annotations: list[Any] = [model]
    for step in route:
        annotations = [inner for outer in annotations for inner in _step(outer, step)]
    return annotations


def reachable(models: Iterable[type[BaseModel]]) -> list[type[BaseModel]]:
    """The models and all models nested in their fields, each once."""
    seen: list[type[BaseModel]] = []
    todo = list(models)
    while todo:
        model = todo.pop(0)
        if model not in seen:
            seen.append(model)
            todo += [inner for field in model.model_fields.values() for inner in models_in(field.annotation)]
    return seen


def models_in(annotation: object) -> Iterator[type[BaseModel]]:
    """Models in an annotation."""
    for candidate in _alternatives(annotation):
        if _is_model(candidate):
            yield candidate
        elif get_origin(candidate) in (dict, tuple):
            for inner in get_args(candidate):
                yield from models_in(inner)


def _alternatives(annotation: object) -> Iterator[object]:
    """Members of a union, without `Annotated`."""
    if get_origin(annotation) is Annotated:
        yield from _alternatives(get_args(annotation)[0])
    elif get_origin(annotation) in (UnionType, Union):
        for member in get_args(annotation):
            yield from _alternatives(member)
    else:
        yield annotation


def _is_model(annotation: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _fields(annotation: object) -> Iterator[tuple[str, FieldInfo]]:
    for candidate in _alternatives(annotation):
        if _is_model(candidate):
            yield from candidate.model_fields.items()


def _step(annotation: object, step: str | int) -> Iterator[object]:
    for candidate in _alternatives(annotation):
        if get_origin(candidate) is dict:
            yield get_args(candidate)[1]
        elif get_origin(candidate) is tuple:
            yield get_args(candidate)[0]
        else:
            yield from (field.rebuild_annotation() for name, field in _fields(candidate) if step in (field.alias, name))
