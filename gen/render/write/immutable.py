"""Changes of existing objects that an API server rejects, by the facts of their kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen import quantity
from gen.diagnostics import Findings
from gen.kubernetes import at
from gen.resources import resource_of_object

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.resources.base import Path

_LARGER = "keep {}: clusters only enlarge claims of a storage class, and `size` does not limit other volumes"
_SMALLER = "keep {}: a claim can only grow"


def immutable_change(old: str, new: str) -> tuple[Path, Any, Any] | None:
    """The first immutable field that changed: route, old value, new value."""
    from gen.load.strict import parse  # noqa: PLC0415 - few files change

    readable = old.encode("utf-8", "replace").decode("utf-8")  # it may have been edited by hand
    before, after = parse(readable, "", Findings()), parse(new, "", Findings())
    if not isinstance(before, dict) or not isinstance(after, dict):
        return None
    return next(immutable_changes(before, after), None)


def immutable_changes(before: dict[str, Any], after: dict[str, Any]) -> Iterator[tuple[Path, Any, Any]]:
    """Immutable fields that differ between two versions of an object: route, old value, new value."""
    resource = resource_of_object(after.get("apiVersion"), after.get("kind"))
    updates = resource.updates if resource is not None else None
    if updates is None:
        return
    fixed = updates.fixed_with is not None and bool(at(before, *updates.fixed_with))
    for route, was, now in _differences(before.get("spec"), after.get("spec"), ("spec",)):
        if route == updates.growing and ((not fixed and _grows(was, now)) or _equals(was, now)):
            continue
        if route in updates.added_once and was is None:
            continue
        if updates.empty_is_missing and (was or None) == (now or None):
            continue
        if not any(route[: len(mutable)] == mutable for mutable in updates.mutable):
            yield route, was, now


def _differences(old: Any, new: Any, route: Path) -> Iterator[tuple[Path, Any, Any]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from _differences(old.get(key), new.get(key), (*route, key))
    elif old != new:
        yield route, old, new


def size_remedy(old: Any, new: Any) -> str:
    """Remedy for another size of a claim."""
    return (_LARGER if _grows(old, new) else _SMALLER).format(old)


def _grows(old: Any, new: Any) -> bool:
    try:
        return quantity.amount(str(new)) >= quantity.amount(str(old))
    except ValueError:
        return False


def _equals(old: Any, new: Any) -> bool:
    return _grows(old, new) and _grows(new, old)
