"""Names, label keys and label values, as the API server checks them (`apimachinery/pkg/util/validation`)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.validate.view import View

_SUBDOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
_KEY = re.compile(r"(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_VALUE = re.compile(r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_LONGEST = 253


def names(view: View) -> Iterator[tuple[Route, str]]:
    """Faults of the object's own metadata and of every pod template in it."""
    name = view.body["metadata"].get("name", "")
    if len(name) > _LONGEST or not _SUBDOMAIN.fullmatch(name):
        yield ("metadata", "name"), f"`{name}` is no name of an object"
    yield from _metadata(view.body, ())
    for route, template in view.templates:
        yield from _metadata(template, route)


def _metadata(body: Body, route: Route) -> Iterator[tuple[Route, str]]:
    metadata = body.get("metadata") or {}
    for key, value in (metadata.get("labels") or {}).items():
        if not _is_key(key):
            yield (*route, "metadata", "labels", key), f"`{key}` cannot be a key"
        if not _is_value(value):
            yield (*route, "metadata", "labels", key), f"`{value}` cannot be the value of a label"
    for key in metadata.get("annotations") or {}:
        if not _is_key(key.lower()):
            yield (*route, "metadata", "annotations", key), f"`{key}` cannot be a key"


@lru_cache(maxsize=4096)
def _is_key(text: str) -> bool:
    return len(text) <= _LONGEST + 64 and _KEY.fullmatch(text) is not None


@lru_cache(maxsize=4096)
def _is_value(text: str) -> bool:
    return _VALUE.fullmatch(text) is not None
