"""Moved pins: images with another digest and code with another commit, in objects before and after a merge.

They are read from the objects instead of the locks, because clusters apply the objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import orjson
from msgspec import Struct

from gen.kubernetes.objects import GITSYNC_REF, GITSYNC_REPO, Body
from gen.pins.git import comparison
from gen.pins.lock import COMMIT, DIGEST
from gen.review.rendered_trees import Pair

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
