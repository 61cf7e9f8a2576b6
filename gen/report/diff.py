"""Objects that a render would change, as text, JSON and Markdown. Equal differences are printed once.

The `version` of the JSON document changes when the meaning of a field does. Markdown is a comment on a pull
request, cut to the size that a comment may have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from math import prod
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gen.base import counted
from gen.base.line_changes import common_start, unified
from gen.kubernetes.objects import qualified
from gen.render.emit import scalar
from gen.render.rendered_object import DATA, ObjectKey
from gen.report.escaping import code_span, diff_block, json_document, sanitize
from gen.report.findings.json import finding_data
from gen.report.findings.text import finding_lines
from gen.report.plan.json import object_data
from gen.report.templates import Phrase
from gen.report.terminal import Terminal, View
from gen.review.field_changes import MISSING, FieldChange
from gen.review.kept_runs import BehindObject, BehindRun
from gen.review.result import ObjectAction, ObjectChange, RenderedDiff, Review

_WIDTH = 200
"""Printed characters of a value."""
_ENDS = 90
"""Printed characters at the start and at the end of a value that is too long."""
_AROUND = 30
"""Characters of a long text that are printed before and after the difference."""
_LINES = 40
"""Printed lines of the difference between two multi-line texts."""
_SAME = "  the same fields: its job has another `attempt`, or another object of the run differs"
_ORDER = (ObjectAction.REPLACED, ObjectAction.CHANGED, ObjectAction.REMOVED, ObjectAction.ADDED, ObjectAction.MOVED)


class GroupView(Struct, frozen=True, kw_only=True):
    """Objects of one kind with equal differences."""

    action: Phrase
    kind: str
    names: tuple[str, ...]
    """`overlay namespace/name` of each, with the object that it replaces or the path that it was moved from."""
    fields: tuple[FieldChange, ...]
    same: bool = False
    """Whether they are runs that replace others with the same fields."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The fields that differ, as lines of a diff. Computed for the printed groups only: there may be thousands."""
        lines = (line for field in fold_roles(self.fields) for line in field_lines(field))
        return (_SAME,) if self.same else tuple(lines)


def difference_groups(review: Review) -> Iterator[GroupView]:
    """Groups of the objects that a merge changes, without those that other parts of the plan list."""
    return group_changes(change for change in review.objects if not _listed_elsewhere(change))


def group_changes(objects: Iterable[ObjectChange]) -> Iterator[GroupView]:
    known: dict[tuple[int, str, str], list[ObjectChange]] = {}
    for change in objects:
        group = (_ORDER.index(change.action), sanitize(change.pair.object.key.kind), repr(change.fields))
        known.setdefault(group, []).append(change)
    for (order, kind, _), changes in sorted(known.items(), key=_first):
        names = tuple(map(_name, changes))
        first = changes[0]
        same = first.action is ObjectAction.REPLACED and not first.fields and first.pair.workload is not None
        yield GroupView(action=Phrase(_ORDER[order].value), kind=kind, names=names, fields=first.fields, same=same)


def behind_groups(review: Review) -> Iterator[GroupView]:
    """Objects of kept runs, with the changes of a new run."""
    known: dict[tuple[str, ...], list[tuple[BehindRun, BehindObject]]] = {}
    for run in review.behind:
        for one in run.objects:
            action = "change" if one.kept is not None and one.fresh is not None else "remove" if one.kept else "add"
            known.setdefault((action, sanitize(one.key.kind), repr(one.fields)), []).append((run, one))
    for (action, kind, _), entries in sorted(known.items()):
        names = tuple(_behind_name(run, one) for run, one in entries)
        yield GroupView(action=Phrase(f"would {action}"), kind=kind, names=names, fields=entries[0][1].fields)


def _behind_name(run: BehindRun, one: BehindObject) -> str:
    key = one.key
    name = f"{key.scope} {qualified(key.namespace, key.name)}"
    return sanitize(f"{name}, replaced by {run.replaced_by}" if key == run.key else name)


def _name(change: ObjectChange) -> str:
    pair, key = change.pair, change.pair.object.key
    name = f"{key.scope} {qualified(key.namespace, key.name)}"
    if pair.before is not None and change.action is ObjectAction.REPLACED:
        kind = f"{pair.before.key.kind} " if pair.before.key.kind != key.kind else ""
        name += f" replaces {kind}{pair.before.key.name}"
    elif pair.before is not None and change.action is ObjectAction.MOVED:
        name += f" from {pair.before.path} to {pair.object.path}"
    return sanitize(name)


def _listed_elsewhere(change: ObjectChange) -> bool:
    """Whether the lists of runs or data already cover it: an object that is added, removed or renamed with them."""
    target = change.pair.object
    if change.action in (ObjectAction.ADDED, ObjectAction.REMOVED):
        return bool(target.run) or change.pair.workload is not None or target.key.kind in DATA
    return change.action is ObjectAction.REPLACED and not change.fields and change.pair.workload is None


def _first(entry: tuple[tuple[int, str, str], list[ObjectChange]]) -> tuple[int, str, ObjectKey]:
    (order, kind, _), changes = entry
    return order, kind, changes[0].pair.object.key


def field_lines(field: FieldChange) -> Iterator[str]:
    path, old, new = sanitize(field.path), field.before, field.after
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


def fold_roles(fields: tuple[FieldChange, ...]) -> list[FieldChange]:
    """Merge equal changes of several roles into one: `pytorchReplicaSpecs.{Master,Worker}.template`."""
    equal: dict[tuple[str, int], list[FieldChange]] = {}
    for field in fields:
        equal.setdefault((repr((field.before, field.after)), len(field.steps)), []).append(field)
    return [one for same in equal.values() for one in _folded(same)]


def _folded(fields: list[FieldChange]) -> list[FieldChange]:
    """One change if the paths are all combinations of their steps; otherwise the changes as they are."""
    columns = [list(dict.fromkeys(steps)) for steps in zip(*(field.steps for field in fields), strict=True)]
    if len(fields) == 1 or prod(map(len, columns)) != len(fields):
        return fields
    return [replace(fields[0], steps=tuple(map(_braced, columns)))]


def _braced(steps: list[str]) -> str:
    """One step for several: `.{Master,Worker}`."""
    if len(steps) == 1:
        return steps[0]
    names = ",".join(step.strip(".[]") for step in steps)
    return f"[{{{names}}}]" if steps[0].startswith("[") else f".{{{names}}}"


def _focused(old: str, new: str) -> tuple[str, str]:
    """Two long texts, cut to the part that differs."""
    if max(len(old), len(new)) <= 3 * _AROUND:
        return old, new
    same = common_start(old, new)
    start = max(same - _AROUND, 0)
    stop = max(common_start(old[same:][::-1], new[same:][::-1]) - _AROUND, 0)
    return _cut(old, start, stop), _cut(new, start, stop)


def _cut(text: str, start: int, stop: int) -> str:
    return f"{'…' if start else ''}{text[start : len(text) - stop]}{'…' if stop else ''}"


def _value(value: object) -> str:
    """A value as YAML on one line, with invisible characters escaped."""
    if isinstance(value, str):
        return sanitize(scalar(_shortened(value)))
    return sanitize(_shortened(json.dumps(value, ensure_ascii=False)))


def _shortened(text: str) -> str:
    """Both ends of a long text, and the number of characters between them."""
    if len(text) <= _WIDTH:
        return text
    return f"{text[:_ENDS]}…{len(text) - 2 * _ENDS} characters…{text[-_ENDS:]}"


def _focused_lines(lines: list[str]) -> list[str]:
    """Lines of a diff. A removed line and the added one that replaces it are cut to the part that differs."""
    found = list(lines)
    for removed, added in _replaced(found):
        if max(len(found[removed]), len(found[added])) > _WIDTH:
            old, new = _focused(found[removed][1:], found[added][1:])
            found[removed], found[added] = f"-{old}", f"+{new}"
    return found


def _replaced(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Positions of removed lines and of the added lines that replace them, in the same order."""
    signs = "".join(line[:1] for line in lines)
    for block in re.finditer(r"(-+)(\++)", signs):
        yield from zip(range(*block.span(1)), range(*block.span(2)), strict=False)


def _line_difference(old: str, new: str) -> Iterator[str]:
    lines = list(unified(old.splitlines(), new.splitlines(), context=1))[2:]
    for line in _focused_lines(lines[:_LINES]):
        text = sanitize(_shortened(line if line.startswith("@@") else line[1:]))
        yield f"  {text}" if line.startswith("@@") else f"{line[0]}   {text}"
    if len(lines) > _LINES:
        yield f"  … {len(lines) - _LINES} more lines"


STYLES: Final = {"-": "removed", "+": "added", "@": "frame"}
"""Styles of the lines of a diff by their first character that is not a space."""


def as_text(view: View[RenderedDiff]) -> str:
    return "".join(f"{line}\n" for line in _lines(view.data, view.terminal))


def _lines(diff: RenderedDiff, terminal: Terminal) -> Iterator[str]:
    for group in group_changes(diff.objects):
        yield terminal.styled(f"{group.action} {group.kind}:", "bold")
        yield from (f"  {name}" for name in group.names)
        for line in group.lines:
            yield f"    {terminal.styled(line, STYLES.get(line.strip()[:1], ''))}"
        yield ""
    for title, paths in file_lists(diff):
        yield terminal.styled(f"{title}:", "bold")
        yield from (f"  {sanitize(path)}" for path in paths)
        yield ""
    for finding in diff.findings:
        yield from finding_lines(finding)
    yield terminal.styled(sanitize(diff.summary), "bold")


def file_lists(diff: RenderedDiff) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Files with changes that the objects do not show."""
    if diff.edited:
        yield "edited by hand", tuple(sorted(diff.edited))
    if diff.rewritten:
        yield "only the text differs, or the file has no object that can be read", diff.rewritten


def as_json(view: View[RenderedDiff]) -> str:
    diff = view.data
    document = {
        "version": 1,
        "findings": [finding_data(finding) for finding in diff.findings],
        "objects": [object_data(change) for change in diff.objects],
        "edited": sorted(diff.edited),
        "rewritten": list(diff.rewritten),
        "summary": diff.summary,
    }
    return json_document(document)


MAX_LENGTH: Final = 60_000
MAX_NAMES: Final = 20
"""Maximum of listed names in a group of objects or files."""


def as_markdown(view: View[RenderedDiff]) -> str:
    diff = view.data
    text = f"### `gen render` would change {counted(len(diff.objects), 'object')}\n\n{code_span(diff.summary)}\n\n"
    entries = list(_entries(diff))
    for number, entry in enumerate(entries):
        if len(text) + len(entry) > MAX_LENGTH:
            return text + f"… and {len(entries) - number} more\n"
        text += entry
    return text


def _entries(diff: RenderedDiff) -> Iterator[str]:
    for finding in diff.findings:
        first, *more = map(code_span, finding_lines(finding))
        yield "".join(f"{line}\n" for line in (f"- {first}", *(f"  {line}" for line in more)))
    for group in group_changes(diff.objects):
        yield f"\n{group.action} {code_span(group.kind)}: {_names(group.names)}\n"
        if lines := group.lines:
            yield f"\n{diff_block(lines)}"
    for title, paths in file_lists(diff):
        yield f"\n{title}: {_names(paths)}\n"


def _names(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(map(code_span, names[:MAX_NAMES])) + more
