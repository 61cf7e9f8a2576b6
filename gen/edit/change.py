"""One change of a field, applied to the data of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gen.model.explain import dotted
from gen.model.scalars import empty, shown

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.load import Data


class Change(Struct, frozen=True):
    """A new value for the field at `route`; None removes the field."""

    route: Route
    value: Data | None


class EditError(Exception):
    """A change that is impossible, with message, hint, and the existing part of the route."""

    def __init__(self, message: str, hint: str, route: Route) -> None:
        super().__init__(message)
        self.message, self.hint, self.route = message, hint, route


def value_at(data: Any, route: Route) -> Any:
    """The value in the data of a file at a route; None if there is none."""
    for step in route:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def changed(data: Data | None, change: Change, depth: int = 0) -> Data:
    """The changed data, or the same object if it has the value already. EditError if the change is impossible."""
    if depth == len(change.route):
        assert change.value is not None  # noqa: S101 - removing ends one step above
        return data if data is not None and data == change.value and not empty(data) else change.value
    step = change.route[depth]
    if isinstance(data, list) and isinstance(step, int):
        return _in_list(data, change, depth)
    if isinstance(step, str) and (data is None or isinstance(data, dict) or empty(data)):
        return _in_mapping(data, change, depth)
    at, name = change.route[:depth], dotted(change.route[:depth])
    if data is None:
        raise EditError(f"`{name}` does not exist", "edit the file to add a list", at)
    if isinstance(data, list):
        raise EditError(f"`{name}` is a list", f"use the index of an entry, such as `{name}.0`", at)
    remedy = f"remove it in the same command with `--unset {name}`"
    raise EditError(f"`{name}` is {shown(data)} and has no fields", remedy, at)


def _in_mapping(data: Data | None, change: Change, depth: int) -> Data:
    mapping = data if isinstance(data, dict) else {}
    step = str(change.route[depth])
    if change.value is None and step not in mapping:
        return mapping if data is None else data
    if change.value is None and depth + 1 == len(change.route):
        return {key: value for key, value in mapping.items() if key != step}
    inner = changed(mapping.get(step), change, depth + 1)
    return mapping if step in mapping and inner is mapping[step] else mapping | {step: inner}


def _in_list(data: list[Data], change: Change, depth: int) -> Data:
    step = change.route[depth]
    at, name = change.route[:depth], dotted(change.route[:depth])
    if not isinstance(step, int) or step >= len(data):
        raise EditError(f"`{name}` has only {len(data)} entries", "edit the file to add one", at)
    if change.value is None and depth + 1 == len(change.route):
        raise EditError("entries of a list cannot be removed", "edit the file", at)
    inner = changed(data[step], change, depth + 1)
    return data if inner is data[step] else [*data[:step], inner, *data[step + 1 :]]
