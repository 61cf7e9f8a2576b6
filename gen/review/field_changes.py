"""Fields that differ between two versions of an object.

Entries of lists such as containers, env, volumes and ports are matched by an identifying member instead of their
position, so that an insertion or another order does not change all later entries. The member is chosen from the entries
themselves. This works for custom resources too, because their schemas rarely declare merge keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from gen.base import regex
from gen.base.placeholders import HASH_LENGTH
from gen.render.rendered_object import RenderedObject

_MERGE_KEYS = ("name", "mountPath", "containerPort", "port", "devicePath", "key", "ip", "host", "topologyKey")
"""Merge keys of Kubernetes, in order of preference."""
_PLAIN = regex(r"[\w/-]+")
_HASH = regex(rf"(?<![0-9A-Za-z])[0-9a-f]{{{HASH_LENGTH}}}(?![0-9A-Za-z])")


class Missing(Enum):
    """The value of a field that does not exist."""

    MISSING = "missing"


MISSING = Missing.MISSING


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field with its values before and after as plain data."""

    steps: tuple[str, ...]
    """Its path, each step with the separator in front: `.spec`, `[0]`."""
    before: object
    after: object

    @property
    def path(self) -> str:
        """The path as one string: `spec.template.spec.containers[main].image`."""
        return "".join(self.steps).removeprefix(".")


def field_changes(before: RenderedObject, after: RenderedObject) -> tuple[FieldChange, ...]:
    """Every field that differs. The hashes of the two runs count as equal."""
    return tuple(_Comparison(frozenset({before.run, after.run})).differences(before.body, after.body, ()))


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A comparison that treats the hashes of the two runs as equal."""

    runs: frozenset[str]

    def differences(self, old: object, new: object, at: tuple[str, ...]) -> Iterator[FieldChange]:
        if old.__class__ is new.__class__ and old == new:
            return
        if isinstance(old, dict) and isinstance(new, dict):
            for key in [*old, *(key for key in new if key not in old)]:
                step = f".{key}" if _PLAIN.fullmatch(key) else f"[{key}]"
                yield from self.differences(old.get(key, MISSING), new.get(key, MISSING), (*at, step))
        elif isinstance(old, list) and isinstance(new, list):
            yield from self._lists(old, new, at)
        else:
            before, after = self._without_hashes(old), self._without_hashes(new)
            if before.__class__ is not after.__class__ or before != after:
                yield FieldChange(at, before, after)

    def _lists(self, old: list[Any], new: list[Any], at: tuple[str, ...]) -> Iterator[FieldChange]:
        name = next((name for name in _MERGE_KEYS if _identifies(old, name) and _identifies(new, name)), None)
        if name is not None:
            before, after = (
                {self._without_hashes(str(entry[name])): entry for entry in entries} for entries in (old, new)
            )
            for key in [*before, *(key for key in after if key not in before)]:
                yield from self.differences(before.get(key, MISSING), after.get(key, MISSING), (*at, f"[{key}]"))
        elif len(old) == len(new):
            for index, (one, other) in enumerate(zip(old, new, strict=True)):
                yield from self.differences(one, other, (*at, f"[{index}]"))
        elif any(isinstance(entry, (dict, list)) for entry in (*old, *new)):
            removed, added = [entry for entry in old if entry not in new], [entry for entry in new if entry not in old]
            yield from (FieldChange((*at, "[]"), self._without_hashes(entry), MISSING) for entry in removed)
            yield from (FieldChange((*at, "[]"), MISSING, self._without_hashes(entry)) for entry in added)
        else:
            yield FieldChange(at, self._without_hashes(old), self._without_hashes(new))

    def _without_hashes(self, value: object) -> object:
        """The same data with `<hash>` instead of the hash of a run, where the hash is a word of its own."""
        if isinstance(value, str):
            return _HASH.sub(lambda match: "<hash>" if match[0] in self.runs else match[0], value)
        if isinstance(value, dict):
            return {key: self._without_hashes(inner) for key, inner in value.items()}
        return [self._without_hashes(inner) for inner in value] if isinstance(value, list) else value


def _identifies(entries: list[object], name: str) -> bool:
    """Whether every entry has this member, each with another value."""
    values = [entry.get(name) if isinstance(entry, dict) else None for entry in entries]
    return None not in values and len({str(value) for value in values}) == len(values)
