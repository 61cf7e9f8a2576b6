"""Differences between an imported object and the one that gen renders in its place, by their routes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gen import quantity
from gen.edit.aligned import LIST_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Route

DEFAULTS: Final[dict[str, Any]] = {
    "apiVersion": "v1",  # of a field reference
    "completionMode": "NonIndexed",
    "concurrencyPolicy": "Allow",
    "dnsPolicy": "ClusterFirst",
    "enableServiceLinks": True,
    "manualSelector": False,
    "podReplacementPolicy": "TerminatingOrFailed",
    "protocol": "TCP",
    "readOnly": False,
    "replicas": 1,
    "schedulerName": "default-scheduler",
    "suspend": False,
    "terminationGracePeriodSeconds": 30,
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
"""Values that the API server or the operator sets where a field is missing, by the name of the field."""
_POLICIES: Final = ("Always", "IfNotPresent")
_LOST: Final = object()


class Difference(Struct, frozen=True, kw_only=True):
    """A value that one of the objects does not have, or has differently."""

    route: Route
    """Route in the rendered object. For an item that it lacks, the last step is `-`."""
    original: Any = None
    """None if only the rendered object has the value."""
    rendered: Any = None
    """None if only the original has the value."""

    @property
    def added(self) -> bool:
        """Whether only gen sets the value."""
        return self.original is None


def differences(original: Any, rendered: Any, route: Route = ()) -> Iterator[Difference]:
    """Values that differ, without those that mean the default."""
    if isinstance(original, dict) and isinstance(rendered, dict):
        yield from _in_mapping(original, rendered, route)
    elif isinstance(original, list) and isinstance(rendered, list) and (key := _key(original, rendered, route)):
        yield from _in_list(original, rendered, route, key)
    elif not _equal(original, rendered, route):
        yield Difference(route=route, original=original, rendered=rendered)


def _in_mapping(original: dict[str, Any], rendered: dict[str, Any], route: Route) -> Iterator[Difference]:
    for key, value in original.items():
        here = (*route, key)
        if key in rendered:
            yield from differences(value, rendered[key], here)
        elif not _is_default(key, value):
            yield Difference(route=here, original=value)
    for key, value in rendered.items():
        if key not in original:
            yield Difference(route=(*route, key), rendered=value)


def _in_list(original: list[Any], rendered: list[Any], route: Route, key: str) -> Iterator[Difference]:
    """Items with the same key are compared; a list can have one twice."""
    left = list(enumerate(rendered))
    for item in original:
        same = next((entry for entry in left if _item_key(entry[1], key) == _item_key(item, key)), None)
        if same is None:
            yield Difference(route=(*route, "-"), original=item)
            continue
        left.remove(same)
        yield from differences(item, same[1], (*route, same[0]))
    for index, item in left:
        yield Difference(route=(*route, index), rendered=item)


def _key(original: list[Any], rendered: list[Any], route: Route) -> str:
    """The field by which the items of a list correspond; empty if the list is one value."""
    name = str(route[-1]) if route else ""
    key = LIST_KEYS.get(name, "")
    every = [*original, *rendered]
    if key == "*":
        return key
    return key if key and all(isinstance(one, dict) and key in one for one in every) else ""


def _item_key(item: Any, key: str) -> Any:
    """The key of an item; a whole item is its own key."""
    return _sorted(item) if key == "*" else item[key]


def _sorted(item: Any) -> Any:
    return tuple(sorted((name, str(value)) for name, value in item.items())) if isinstance(item, dict) else item


def _is_default(key: str, value: Any) -> bool:
    known = DEFAULTS.get(key, _LOST)
    return known is not _LOST and known == value and type(known) is type(value)


def _equal(original: Any, rendered: Any, route: Route) -> bool:
    if original == rendered and type(original) is type(rendered):
        return True
    texts = str(original), str(rendered)
    if texts[0] == texts[1] or (isinstance(original, bool) and texts[0].lower() == texts[1]):
        return True
    return _is_quantity(route) and _amount(original) == _amount(rendered) is not None


def _is_quantity(route: Route) -> bool:
    return any(step in ("limits", "requests", "sizeLimit", "resourcesPerNode") for step in route)


def _amount(value: Any) -> Any:
    try:
        return quantity.amount(str(value)[:64])
    except ValueError:
        return None
