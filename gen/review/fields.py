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

from gen.kubernetes import HASH_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.review.rendered_object import Item

_NAMES = ("name", "mountPath", "containerPort", "port", "devicePath", "key", "ip", "host", "topologyKey")
"""Members that name the entry of a list, the merge keys of Kubernetes, in the order in which they are tried."""
_PLAIN = re.compile(r"[\w/-]+")
_HASH = re.compile(rf"(?<![0-9A-Za-z])[0-9a-f]{{{HASH_LENGTH}}}(?![0-9A-Za-z])")


class Missing(Enum):
    """Stands where one of the two sides has nothing."""

    MISSING = "missing"


MISSING = Missing.MISSING


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field and both of its values as plain data."""

    steps: tuple[str, ...]
    """The route to it, each step with what joins it to the one before: `.spec`, `[0]`."""
    before: Any
    after: Any

    @property
    def path(self) -> str:
        """The route as people write it: `spec.template.spec.containers[main].image`."""
        return "".join(self.steps).removeprefix(".")


def field_changes(before: Item, after: Item) -> tuple[FieldChange, ...]:
    """Every field that differs. The names of two runs of a job differ, and that is not a change of the fields."""
    return tuple(_Comparison(frozenset({before.run, after.run})).differences(before.body, after.body, ()))


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Compares two objects, to which the hashes of their runs are one word."""

    runs: frozenset[str]

    def differences(self, old: Any, new: Any, at: tuple[str, ...]) -> Iterator[FieldChange]:
        if old.__class__ is new.__class__ and old == new:
            return
        if isinstance(old, dict) and isinstance(new, dict):
            for key in [*old, *(key for key in new if key not in old)]:
                inner = f".{key}" if _PLAIN.fullmatch(key) else f"[{key}]"
                yield from self.differences(old.get(key, MISSING), new.get(key, MISSING), (*at, inner))
        elif isinstance(old, list) and isinstance(new, list):
            yield from self._lists(old, new, at)
        else:
            was, now = self._word(old), self._word(new)
            if was.__class__ is not now.__class__ or was != now:
                yield FieldChange(at, was, now)

    def _lists(self, old: list[Any], new: list[Any], at: tuple[str, ...]) -> Iterator[FieldChange]:
        name = next((name for name in _NAMES if _names(old, name) and _names(new, name)), None)
        if name is not None:
            before, after = ({self._word(str(item[name])): item for item in items} for items in (old, new))
            for key in [*before, *(key for key in after if key not in before)]:
                yield from self.differences(before.get(key, MISSING), after.get(key, MISSING), (*at, f"[{key}]"))
        elif len(old) == len(new):
            for index, (was, now) in enumerate(zip(old, new, strict=True)):
                yield from self.differences(was, now, (*at, f"[{index}]"))
        elif any(isinstance(item, (dict, list)) for item in (*old, *new)):
            gone, come = [item for item in old if item not in new], [item for item in new if item not in old]
            yield from (FieldChange((*at, "[]"), self._word(item), MISSING) for item in gone)
            yield from (FieldChange((*at, "[]"), MISSING, self._word(item)) for item in come)
        else:
            yield FieldChange(at, self._word(old), self._word(new))

    def _word(self, value: Any) -> Any:
        """The same data with the runs' hashes replaced, wherever they are words."""
        if isinstance(value, str):
            return _HASH.sub(lambda match: "<hash>" if match[0] in self.runs else match[0], value)
        if isinstance(value, dict):
            return {key: self._word(item) for key, item in value.items()}
        return [self._word(item) for item in value] if isinstance(value, list) else value


def _names(items: list[Any], name: str) -> bool:
    """Whether the member tells all entries apart."""
    values = [item.get(name) if isinstance(item, dict) else None for item in items]
    return None not in values and len({str(value) for value in values}) == len(values)
