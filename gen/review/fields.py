"""What differs between two forms of an object, field by field.

Lists that are maps in disguise (containers, env, volumes, ports) are matched by what names their entries and not by
position, so that an insertion or another order is not a change of all that follows. Which member that is, is seen
from the entries themselves: it works for custom resources, whose merge keys no schema tells.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.review.item import Item

_NAMES = ("name", "mountPath", "containerPort", "port", "devicePath", "key", "ip", "host", "topologyKey")
"""Members that name the entry of a list, the merge keys of Kubernetes, in the order in which they are tried."""
_PLAIN = re.compile(r"[\w/-]+")
_HASH = "<hash>"


class Missing(Enum):
    """Stands where one of the two sides has nothing."""

    MISSING = "missing"


MISSING = Missing.MISSING


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field: its route, as people write it, and both values as plain data."""

    path: str
    before: Any
    after: Any


def field_changes(before: Item, after: Item) -> tuple[FieldChange, ...]:
    """Every field that differs. The names of two runs of a job differ, and that is not a change of the fields."""
    old, new = before.body, after.body
    if before.run != after.run:
        old, new = _without(old, before.run), _without(new, after.run)
    return tuple(_differences(old, new, ""))


def _without(value: Any, run: str) -> Any:
    """The same data with a run's hash replaced, wherever it is a word."""
    return _replaced(value, re.compile(rf"(?<![0-9A-Za-z]){re.escape(run)}(?![0-9A-Za-z])")) if run else value


def _replaced(value: Any, pattern: re.Pattern[str]) -> Any:
    if isinstance(value, dict):
        return {key: _replaced(item, pattern) for key, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item, pattern) for item in value]
    return pattern.sub(_HASH, value) if isinstance(value, str) else value


def _differences(old: Any, new: Any, path: str) -> Iterator[FieldChange]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            inner = f"{path}.{key}" if _PLAIN.fullmatch(key) else f"{path}[{key}]"
            yield from _differences(old.get(key, MISSING), new.get(key, MISSING), inner)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _lists(old, new, path)
    elif old.__class__ is not new.__class__ or old != new:
        yield FieldChange(path.removeprefix("."), old, new)


def _lists(old: list[Any], new: list[Any], path: str) -> Iterator[FieldChange]:
    name = next((name for name in _NAMES if _names(old, name) and _names(new, name)), None)
    if name is not None:
        before, after = ({str(item[name]): item for item in items} for items in (old, new))
        for key in [*before, *(key for key in after if key not in before)]:
            yield from _differences(before.get(key, MISSING), after.get(key, MISSING), f"{path}[{key}]")
    elif len(old) == len(new):
        for index, (was, now) in enumerate(zip(old, new, strict=True)):
            yield from _differences(was, now, f"{path}[{index}]")
    elif any(isinstance(item, (dict, list)) for item in (*old, *new)):
        gone, come = [item for item in old if item not in new], [item for item in new if item not in old]
        yield from (FieldChange(f"{path}[]".removeprefix("."), item, MISSING) for item in gone)
        yield from (FieldChange(f"{path}[]".removeprefix("."), MISSING, item) for item in come)
    else:
        yield FieldChange(path.removeprefix("."), old, new)


def _names(items: list[Any], name: str) -> bool:
    """Whether the member tells all entries apart."""
    values = [item.get(name) if isinstance(item, dict) else None for item in items]
    return None not in values and len({str(value) for value in values}) == len(values)
