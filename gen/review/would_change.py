"""What `gen render` would change: the objects in the files that differ from the result of a render."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from gen.diagnostics import Findings
from gen.review.compare import object_change
from gen.review.matching import match_objects
from gen.review.rendered_object import parse_object
from gen.review.rendered_trees import RenderedTrees
from gen.review.review import ObjectAction

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gen.diagnostics import Diagnostic
    from gen.render.write import Change
    from gen.review.rendered_object import RenderedObject
    from gen.review.review import ObjectChange


class RenderedDiff(Struct, frozen=True, kw_only=True):
    """Differences between `rendered/` and the result of a render, by object."""

    objects: tuple[ObjectChange, ...] = ()
    rewritten: tuple[str, ...] = ()
    """Files with another text and the same object, or without an object that can be read."""
    edited: frozenset[str] = frozenset()
    """Files that were edited by hand."""
    findings: tuple[Diagnostic, ...] = ()
    summary: str = ""


def object_differences(changes: Iterable[Change]) -> tuple[tuple[ObjectChange, ...], tuple[str, ...]]:
    """The objects that differ, and the files that differ without an object that does."""
    trees = RenderedTrees()
    paths = []
    for change in changes:
        old, new = _object(change.old, change.path), _object(change.new, change.path)
        if change.old is None or old is not None:  # not an object that cannot be read, as if it were a new one
            trees.before.extend([old] if old is not None else [])
            trees.after.extend([new] if new is not None else [])
        paths.append(change.path)
    objects = tuple(
        change
        for change in map(object_change, match_objects(trees, Findings()))
        if change.action is not ObjectAction.KEPT
    )
    explained = {one.path for change in objects for one in (change.pair.before, change.pair.after) if one is not None}
    return objects, tuple(path for path in paths if path not in explained)


def _object(text: str | None, path: str) -> RenderedObject | None:
    return None if text is None else parse_object(text.encode("utf-8", "surrogateescape"), path, Findings())
