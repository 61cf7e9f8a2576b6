"""Fields of models, and values in documents, as routes that can be compared."""

from __future__ import annotations

import copy
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.base.findings import Route

EACH = "*"
"""Stands for any key of a mapping, and any index of a list."""


def model_fields(model: type[BaseModel], above: Route = ()) -> Iterator[Route]:
    """Every field of a model and of the models in it, as `("data", "*", "subPath")`. Fields of models come alone."""
    for name, field in model.model_fields.items():
        yield from _of_annotation(field.annotation, (*above, field.alias or name))


def _of_annotation(annotation: Any, route: Route) -> Iterator[Route]:
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _of_annotation(get_args(annotation)[0], route)
    elif origin in (UnionType, Union):
        for member in get_args(annotation):
            if member is not type(None):
                yield from _of_annotation(member, route)
    elif origin is dict:
        yield from _of_annotation(get_args(annotation)[1], (*route, EACH))
    elif origin is tuple:
        yield from _of_annotation(get_args(annotation)[0], (*route, EACH))
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield from model_fields(annotation, route)
    else:
        yield route


def leaves(value: Any, above: Route = ()) -> Iterator[Route]:
    """Routes of all scalars in a document."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*above, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, (*above, index))
    else:
        yield above


def without(document: dict[str, Any], route: Route) -> dict[str, Any]:
    """A copy without the value at a route, and without mappings and lists that this leaves empty."""
    changed = copy.deepcopy(document)
    holders: list[Any] = [changed]
    for step in route[:-1]:
        holders.append(holders[-1][step])
    for holder, step in zip(reversed(holders), reversed(route), strict=True):
        del holder[step]
        if holder:
            break
    return changed


def pattern(route: Route, known: set[Route]) -> Route | None:
    """The field that a value in a document belongs to; None when no model has it."""
    fits = [
        field
        for field in known
        if field[0] == route[0]
        and len(field) <= len(route)
        and all(one in (EACH, step) for one, step in zip(field, route, strict=False))
    ]
    return max(fits, key=lambda field: (len(field), -field.count(EACH)), default=None)
