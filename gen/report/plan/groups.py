"""Objects with the same difference, told once: an image that changed under 200 jobs is one thing to read."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gen.render.emit import scalar
from gen.report.safe import shown
from gen.review.fields import MISSING, FieldChange
from gen.review.rendered_object import DATA
from gen.review.types import Change, ObjectChange, Review

if TYPE_CHECKING:
    from collections.abc import Iterator

_WIDTH = 200
"""Characters of a value that are shown."""
_AROUND = 30
"""Characters of long texts that are shown on either side of what differs."""
_LINES = 40
"""Lines of a difference between two texts with lines."""
_ORDER = (Change.REPLACED, Change.CHANGED, Change.REMOVED, Change.ADDED, Change.MOVED)


@dataclass(frozen=True, slots=True)
class Group:
    """Objects of one kind to which the same happens."""

    change: Change
    kind: str
    objects: tuple[ObjectChange, ...]

    @property
    def names(self) -> Iterator[str]:
        """`overlay namespace/name` of each, and what it follows or where it was."""
        for item in self.objects:
            pair, key = item.pair, item.pair.item.key
            name = f"{key.scope} {key.namespace}/{key.name}".replace(" /", " ")
            if pair.before is not None and item.change is Change.REPLACED:
                kind = f"{pair.before.key.kind} " if pair.before.key.kind != key.kind else ""
                name += f" replaces {kind}{pair.before.key.name}"
            elif pair.before is not None and item.change is Change.MOVED:
                name += f" from {pair.before.path} to {pair.item.path}"
            yield shown(name)

    @property
    def lines(self) -> list[str]:
        """The fields that differ, as lines of a diff."""
        return [line for field in folded(self.objects[0].fields) for line in _field_lines(field)]


def groups(review: Review) -> list[Group]:
    """The objects that a merge touches, without those that are told elsewhere."""
    known: dict[tuple[Any, ...], list[ObjectChange]] = {}
    for item in review.objects:
        if not _told(item):
            alike = (_ORDER.index(item.change), shown(item.pair.item.key.kind), repr(item.fields))
            known.setdefault(alike, []).append(item)
    return [Group(_ORDER[order], kind, tuple(items)) for (order, kind, _), items in sorted(known.items(), key=_first)]


def _told(item: ObjectChange) -> bool:
    """Whether a run tells it, with which it comes and goes and gets a new name, or the list of data does."""
    whole = item.pair.item
    if item.change in (Change.ADDED, Change.REMOVED):
        return bool(whole.run) or item.pair.workload is not None or whole.key.kind in DATA
    return item.change is Change.REPLACED and not item.fields and item.pair.workload is None


def _first(entry: tuple[tuple[Any, ...], list[ObjectChange]]) -> tuple[Any, ...]:
    (order, kind, _), items = entry
    return order, kind, items[0].pair.item.key


def _field_lines(field: FieldChange) -> Iterator[str]:
    path, old, new = shown(field.path), field.before, field.after
    if isinstance(old, str) and isinstance(new, str):
        if "\n" in old.strip() or "\n" in new.strip():
            yield f"  {path}:"
            yield from _line_difference(old, new)
            return
        old, new = _focused(old, new)
    if old is not MISSING:
        yield f"- {path}: {_value(old)}"
    if new is not MISSING:
        yield f"+ {path}: {_value(new)}"


def folded(fields: tuple[FieldChange, ...]) -> list[FieldChange]:
    """The same change of several roles as one, such as `pytorchReplicaSpecs.{Master,Worker}.template`."""
    alike: dict[tuple[str, int], list[FieldChange]] = {}
    for field in fields:
        alike.setdefault((repr((field.before, field.after)), len(field.steps)), []).append(field)
    return [one for same in alike.values() for one in _folded(same)]


def _folded(fields: list[FieldChange]) -> list[FieldChange]:
    """Those whose routes differ in one step as one; all of them when they differ in more."""
    columns = list(zip(*(field.steps for field in fields), strict=True))
    differing = [index for index, steps in enumerate(columns) if len(set(steps)) > 1]
    if len(differing) != 1:
        return fields
    steps = columns[differing[0]]
    names = ",".join(step.strip(".[]") for step in steps)
    step = f"[{{{names}}}]" if steps[0].startswith("[") else f".{{{names}}}"
    first = fields[0].steps
    return [replace(fields[0], steps=(*first[: differing[0]], step, *first[differing[0] + 1 :]))]


def _focused(old: str, new: str) -> tuple[str, str]:
    """Two long texts, cut to where they differ."""
    if max(len(old), len(new)) <= 3 * _AROUND:
        return old, new
    same = _common(old, new)
    start = max(same - _AROUND, 0)
    stop = max(_common(old[same:][::-1], new[same:][::-1]) - _AROUND, 0)
    return _cut(old, start, stop), _cut(new, start, stop)


def _common(old: str, new: str) -> int:
    """How many characters two texts have in common before they differ."""
    differing = (at for at, (was, now) in enumerate(zip(old, new, strict=False)) if was != now)
    return next(differing, min(len(old), len(new)))


def _cut(text: str, start: int, stop: int) -> str:
    return f"{'…' if start else ''}{text[start : len(text) - stop]}{'…' if stop else ''}"


def _value(value: Any) -> str:
    """On one line, as YAML has it; what cannot be seen is written as an escape."""
    if isinstance(value, str):
        return shown(scalar(value if len(value) <= _WIDTH else f"{value[:_WIDTH]}…"))
    text = json.dumps(value, ensure_ascii=False)
    return shown(text if len(text) <= _WIDTH else text[:_WIDTH] + "…")


def _line_difference(old: str, new: str) -> Iterator[str]:
    lines = list(difflib.unified_diff(old.splitlines(), new.splitlines(), n=1, lineterm=""))[2:]
    for line in lines[:_LINES]:
        yield (
            "  " + shown(line[: _WIDTH + 1]) if line.startswith("@@") else f"{line[0]}   {shown(line[1 : _WIDTH + 1])}"
        )
    if len(lines) > _LINES:
        yield f"  … {len(lines) - _LINES} more lines"
