"""Effects of a render on objects: differences between `rendered/` and the result of `gen render`."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from gen.base import Diagnostic, Findings
from gen.render.rendered_object import RenderedObject, parse_object
from gen.render.write.compare import Change
from gen.review.matching import match_objects
from gen.review.rendered_trees import RenderedTrees
from gen.review.result import ObjectAction, ObjectChange


class RenderedDiff(Struct, frozen=True, kw_only=True):
    """Differences between `rendered/` and the result of a render, by object."""

    objects: tuple[ObjectChange, ...] = ()
    rewritten: tuple[str, ...] = ()
    """Files with another text and the same object, or without a readable object."""
    edited: frozenset[str] = frozenset()
    """Files that were edited by hand."""
    findings: tuple[Diagnostic, ...] = ()
    summary: str = ""


def object_differences(changes: Iterable[Change]) -> tuple[tuple[ObjectChange, ...], tuple[str, ...]]:
    """Differing objects, and files whose text alone differs."""
    trees = RenderedTrees()
    paths = []
    for change in changes:
        old, new = _object(change.old, change.path), _object(change.new, change.path)
        if change.old is None or old is not None:  # an unreadable old object is not reported as a new one
            trees.before.extend([old] if old is not None else [])
            trees.after.extend([new] if new is not None else [])
        paths.append(change.path)
    objects = tuple(
        change
        for change in map(ObjectChange.of, match_objects(trees, Findings(), {}))
        if change.action is not ObjectAction.KEPT
    )
    explained = {one.path for change in objects for one in (change.pair.before, change.pair.after) if one is not None}
    return objects, tuple(path for path in paths if path not in explained)


def _object(text: str | None, path: str) -> RenderedObject | None:
    return None if text is None else parse_object(text.encode("utf-8", "surrogateescape"), path, Findings())
