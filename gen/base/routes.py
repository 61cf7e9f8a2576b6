"""Routes: the keys and indices that lead to a value in nested mappings and lists."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any

Route = tuple[str | int, ...]
"""Outermost key first."""


def at(body: object, *route: str | int) -> Any:
    """The value at a route through mappings, or None."""
    for step in route:
        if not isinstance(body, dict):
            return None
        body = body.get(step)
    return body


def as_mapping(value: object) -> dict[str, Any]:
    """The value if it is a mapping; an empty one otherwise."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """The value if it is a list; an empty one otherwise."""
    return value if isinstance(value, list) else []


def as_mappings(value: object) -> list[dict[str, Any]]:
    """The mappings in a value that is a list."""
    return [one for one in as_list(value) if isinstance(one, dict)]


def as_texts(value: object) -> list[str]:
    """The values in a list, as texts."""
    return [str(one) for one in as_list(value)]


def get(holder: object, step: str | int) -> Any:
    """One step of a route; None if there is nothing."""
    if isinstance(holder, dict):
        return holder.get(step)
    if isinstance(holder, list) and isinstance(step, int) and step < len(holder):
        return holder[step]
    return None


def follow(value: object, route: Route) -> Any:
    """The value at a route through mappings and lists, or None."""
    for step in route:
        value = get(value, step)
    return value


def with_field(body: dict[str, Any], route: tuple[str, ...], value: object) -> dict[str, Any]:
    """A copy with the value at a route through mappings, or without the field if the value is None."""
    step, *rest = route
    if rest:
        inner = body.get(step)
        if not isinstance(inner, dict):
            if value is None:
                return body
            inner = {}
        return {**body, step: with_field(inner, tuple(rest), value)}
    if value is None:
        return {key: other for key, other in body.items() if key != step}
    return {**body, step: value}


def replaced(value: object, route: Route, new: object) -> Any:
    """A copy with another value at a route. Mappings that are missing on the way are added."""
    if not route:
        return new
    step, *rest = route
    if isinstance(value, list):
        return [replaced(one, tuple(rest), new) if index == step else one for index, one in enumerate(value)]
    holder = value if isinstance(value, dict) else {}
    return {**holder, step: replaced(holder.get(step), tuple(rest), new)}


def set_value(body: dict[str, Any], route: tuple[str, ...], value: object) -> None:
    """Set the value at a route, with the mappings that are missing on the way."""
    for step in route[:-1]:
        body = body.setdefault(step, {})
    body[route[-1]] = value


def entries(value: object) -> Iterable[tuple[Any, Any]]:
    """Keys or indices of a mapping or list with the values; none of other values."""
    return value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()


def with_texts(value: object, change: Callable[[str], str], below: Container[str] | None = None) -> Any:
    """The value with changed texts: all of them, or those at any depth below these keys."""
    if isinstance(value, dict):
        return {key: with_texts(one, change, None if below and key in below else below) for key, one in value.items()}
    if isinstance(value, list):
        return [with_texts(one, change, below) for one in value]
    return change(value) if below is None and isinstance(value, str) else value


def nulls(value: object, route: Route = ()) -> Iterator[Route]:
    """Where a value is or holds null."""
    if value is None:
        yield route
    for key, inner in entries(value):
        yield from nulls(inner, (*route, key))


def overlap(one: Route, other: Route) -> bool:
    """Whether one route contains the other."""
    return all(step == there for step, there in zip(one, other, strict=False))


def dotted(route: Route, key: Callable[[str], str] = str) -> str:
    """`spec.containers[0].name`, for messages. `key` can shorten keys."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{key(step)}" for step in route)
    return text.removeprefix(".")
