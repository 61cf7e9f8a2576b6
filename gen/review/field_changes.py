"""Fields that differ between two versions of an object.

Entries of lists such as containers, env, volumes and ports are matched by an identifying member instead of their
position, so that an insertion or another order does not change all later entries. The member is chosen from the entries
themselves. This works for custom resources too, because their schemas rarely declare merge keys.

Also moved pins: images with another digest and code with another commit. They are read from the objects instead of the
locks, because clusters apply the objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, Final

import orjson
from msgspec import Struct

from gen.base import regex
from gen.base.placeholders import HASH_LENGTH
from gen.kubernetes.objects import GITSYNC_REF, GITSYNC_REPO, Body
from gen.pins.git import comparison
from gen.pins.lock import COMMIT, DIGEST
from gen.render.rendered_object import RenderedObject
from gen.review.rendered_trees import Pair

_MERGE_KEYS = ("name", "mountPath", "containerPort", "port", "devicePath", "key", "ip", "host", "topologyKey")
"""Merge keys of Kubernetes, in order of preference."""
_PLAIN = regex(r"[\w/-]+")
_HASH = regex(rf"(?<![0-9A-Za-z])[0-9a-f]{{{HASH_LENGTH}}}(?![0-9A-Za-z])")


class Missing(Enum):
    """The value of a field that does not exist."""

    MISSING = "missing"


MISSING = Missing.MISSING


class FieldChange(Struct, frozen=True):
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


class _Comparison(Struct, frozen=True):
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


_MANIFEST: Final = "manifest"
"""Field of a workflow with the object of a step as a text."""


class MovedPin(Struct, frozen=True, kw_only=True, order=True):
    """A pin before and after."""

    name: str
    """Image with its tag, or URL of a repository."""
    before: str
    """Digest or commit."""
    after: str
    link: str = ""
    """Page that compares the commits; empty for images and unknown servers."""
    objects: int = 1
    """Number of objects with this change."""


def moved_pins(pairs: Iterable[Pair]) -> tuple[MovedPin, ...]:
    """Moved pins, sorted by name. Equal changes count once, with the number of their objects."""
    found: dict[tuple[str, str, str], int] = {}
    for pair in pairs:
        before, after = pair.before, pair.after
        if before is None or after is None:
            continue
        old, new = _by_name(before.body), _by_name(after.body)
        for name in old.keys() & new.keys():
            # containers of one object can have different digests of an image
            for pins in zip(sorted(old[name] - new[name]), sorted(new[name] - old[name]), strict=False):
                key = (name, *pins)
                found[key] = found.get(key, 0) + 1
    return tuple(
        sorted(
            MovedPin(name=name, before=old, after=new, link=comparison(name, old, new), objects=count)
            for (name, old, new), count in found.items()
        )
    )


def _by_name(body: Body) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, pin in _pins(body):
        found.setdefault(name, set()).add(pin)
    return found


def _pins(body: object) -> Iterator[tuple[str, str]]:
    """Images with digests and repositories with commits in an object, of any form and depth."""
    waiting = [body]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            url, ref = _setting(value, GITSYNC_REPO), _setting(value, GITSYNC_REF)
            if isinstance(url, str) and isinstance(ref, str) and COMMIT.fullmatch(ref):
                yield url, ref
            waiting += value
        elif isinstance(value, dict):
            for key, inner in value.items():
                if key == "image" and isinstance(inner, str):
                    name, _, digest = inner.partition("@")
                    if DIGEST.fullmatch(digest):
                        yield name, digest
                else:
                    waiting.append(_parsed(inner) if key == _MANIFEST and isinstance(inner, str) else inner)


def _setting(variables: list[object], name: str) -> object:
    """The value of a variable."""
    return next((one.get("value") for one in variables if isinstance(one, dict) and one.get("name") == name), None)


def _parsed(text: str) -> object:
    try:
        return orjson.loads(text)
    except ValueError:
        return None
