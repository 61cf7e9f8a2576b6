"""JSON 6902 patches: operations on paths of an object."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from gen.base import Route, get, regex
from gen.kubernetes.objects import Body
from gen.overlay.patch import Operation

_INDEX = regex(r"0|[1-9][0-9]{0,6}")


class DoesNotApply(Exception):  # noqa: N818 - named after the message
    """The path does not exist, or a test failed."""


def apply(body: Body, operation: Operation) -> tuple[Body, Route]:
    """The changed copy and the changed route. DoesNotApply if the operation is impossible."""
    match operation.op:
        case "test":
            if not _equal(_at(body, operation.path), operation.value):
                raise DoesNotApply(f"`{_text(operation.path)}` differs from the expected value of the test")
            return body, _route(body, operation.path)
        case "remove":
            return _changed(body, operation.path, remove=True), _route(body, operation.path)
        case "replace":
            _at(body, operation.path)
            changed = _changed(body, operation.path, operation.value, replace=True)
        case "add":
            changed = _changed(body, operation.path, operation.value)
        case "copy" | "move":
            assert operation.origin is not None  # read only with `from`
            value = _at(body, operation.origin)
            base = _changed(body, operation.origin, remove=True) if operation.op == "move" else body
            changed = _changed(base, operation.path, value)
        case unknown:
            raise AssertionError(unknown)
    return changed, _route(changed, operation.path)


def below(operation: Operation, route: Route) -> Operation:
    """The operation with paths relative to a part of the object."""
    if not route:
        return operation
    start = tuple(map(str, route))
    origin = (*start, *operation.origin) if operation.origin is not None else None
    return replace(operation, path=(*start, *operation.path), origin=origin)


def _equal(one: object, other: object) -> bool:
    """Equality in JSON, where `true` is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)


def _at(value: Any, path: tuple[str, ...]) -> object:
    for number, step in enumerate(path):
        value = value[_key(value, step, path[: number + 1])]
    return value


def _key(holder: Any, step: str, path: tuple[str, ...], *, adding: bool = False) -> Any:
    """The key or index of `step` in `holder`. If `adding`, it need not exist yet."""
    if isinstance(holder, dict) and (adding or step in holder):
        return step
    if isinstance(holder, list):
        if adding and step == "-":
            return len(holder)
        if _INDEX.fullmatch(step) and int(step) < len(holder) + adding:
            return int(step)
    raise DoesNotApply(f"`{_text(path)}` does not exist")


def _changed(
    holder: Any,
    path: tuple[str, ...],
    value: Any = None,
    *,
    remove: bool = False,
    replace: bool = False,
    depth: int = 0,
) -> Any:
    """A copy with the value at `path` changed. Only its parents are copied."""
    last = depth == len(path) - 1
    key = _key(holder, path[depth], path[: depth + 1], adding=last and not remove and not replace)
    copy = dict(holder) if isinstance(holder, dict) else list(holder)
    if not last:
        copy[key] = _changed(holder[key], path, value, remove=remove, replace=replace, depth=depth + 1)
    elif remove:
        del copy[key]
    elif isinstance(copy, list) and not replace:
        copy.insert(key, value)
    else:
        copy[key] = value
    return copy


def _route(body: object, path: tuple[str, ...]) -> Route:
    """The path as a route, with indices as numbers."""
    route: list[str | int] = []
    value = body
    for step in path:
        key = (len(value) - 1 if step == "-" else int(step)) if isinstance(value, list) else step
        value = get(value, key)
        route.append(key)
    return tuple(route)


def _text(path: tuple[str, ...]) -> str:
    return "/" + "/".join(path)
