"""The fixes of findings in job files and overlays, for `gen check --fix` and for reports.

A finding has the fixes that are certain, and else the correction that its hint prints as the only one. Each edits the
text of a file as `gen set` does, and is kept if its finding is gone and there is no new error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace
from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from gen.base import Diagnostic, Findings, Move, Put, Rename, Respell, Route, UsageError, counted, follow, near
from gen.base.codes.files import TOO_MANY
from gen.base.corrections import AnyFix, PrintedCorrection, fixes_of, may_be_fixed
from gen.base.repository.files import MAX_BYTES, Edit, linked_folder, read_regular, replace_files
from gen.base.repository.job_files import all_jobs, chosen_jobs, overlay_names
from gen.base.repository.layout import JobFile, is_job, overlay_file
from gen.base.yaml.source import node_of, source_of
from gen.base.yaml.strict import Data, parse
from gen.base.yaml.yaml_errors import lines_with_ends
from gen.edit.change import Change, EditError
from gen.edit.checks import job_findings
from gen.edit.splice import comment_at, edited, renamed, with_comment
from gen.kubernetes.secrets import shows_secret
from gen.overlay.overlay import Overlay
from gen.overlay.read import OverlayReader
from gen.render.crosscheck import check_clusters
from gen.render.pipeline import clusters_with_places
from gen.render.run import render


def is_better(item: Diagnostic, fix: AnyFix, before: Collection[Diagnostic], after: Collection[Diagnostic]) -> bool:
    if isinstance(fix, Move):
        return _errors(after) < _errors(before)
    if any((one.code, one.message, one.place) == (item.code, item.message, item.place) for one in after):
        return False
    known = {(one.code, one.message) for one in before}
    here = (one for one in after if one.is_error and one.place.line == item.place.line)
    return isinstance(fix, Respell) or all((one.code, one.message) in known for one in here)


def are_better(
    edits: list[tuple[Diagnostic, AnyFix]], before: Collection[Diagnostic], after: Collection[Diagnostic]
) -> bool:
    """Several fixes together must leave no error that was not there before.

    Only a file with too many errors to report can show others, outside of the edited lines.
    """
    if len(edits) == 1:
        return is_better(*edits[0], before, after)
    there = {(one.code, one.message, one.place) for one in after}
    items = [item for item, _ in edits]
    if any((item.code, item.message, item.place) in there for item in items):
        return False
    mended = Counter((item.code, item.message) for item in items if item.is_error)
    errors = Counter((one.code, one.message) for one in before if one.is_error) - mended
    other = Counter((one.code, one.message) for one in after if one.is_error) - errors
    if not other or all(one.code != TOO_MANY.name for one in before):
        return not other
    lines = {item.place.line for item in items}
    return not any((one.code, one.message) in other and one.place.line in lines for one in after)


def _errors(found: Collection[Diagnostic]) -> int:
    return sum(item.is_error for item in found)


def applied_or_none(text: str, fix: AnyFix) -> str | None:
    """The text with a fix; None if the fix does not match it."""
    try:
        return applied(text, fix)
    except EditError:
        return None


def applied(text: str, fix: AnyFix) -> str:
    """The text with a fix. EditError if the fix does not match it."""
    if isinstance(fix, PrintedCorrection):
        return _corrected(text, fix)
    if isinstance(fix, Rename):
        return renamed(text, fix.route, fix.name)
    if isinstance(fix, Put):
        if _value(text, fix.route) != fix.old:  # such as an expression with this result
            raise EditError("the file has another value", "edit the file", fix.route)
        return edited(text, Change(fix.route, fix.new))
    if isinstance(fix, Move):
        value = _value(text, fix.route)
        if not isinstance(value, str) or _value(text, fix.to) is not None:
            raise EditError("the value cannot be moved", "edit the file", fix.route)
        after = edited(edited(text, Change(fix.to, value)), Change(fix.route, None))
        if after.count("#") == text.count("#"):
            return after
        return with_comment(after, fix.to, comment_at(text, fix.route))
    return _respelled(text, fix)


def _value(text: str, route: Route) -> object:
    return follow(parse(text, "", Findings()), route)


def _respelled(text: str, fix: Respell) -> str:
    lines = lines_with_ends(text)
    line = lines[fix.line - 1] if fix.line <= len(lines) else ""
    start = fix.column - 1
    if line[start : start + len(fix.old)] != fix.old:
        raise EditError("the file has another text there", "edit the file", ())
    lines[fix.line - 1] = line[:start] + fix.new + line[start + len(fix.old) :]
    return "".join(lines)


def _corrected(text: str, fix: PrintedCorrection) -> str:
    """The text with a correction. EditError if the text is another one."""
    for route, is_key in _at(node_of(text), (), fix.line - 1, fix.column - 1):
        with suppress(EditError):
            return _meant(text, fix, route, is_key=is_key) if fix.meant else _written(text, fix, route)
    raise EditError("the file has another text there", "edit the file", ())


def _at(node: object, route: Route, line: int, column: int) -> Iterator[tuple[Route, bool]]:
    """The routes of the keys and values at a position: a mapping starts where its first key does."""
    if isinstance(node, MappingNode):
        inner: Iterator[tuple[Any, Any]] = ((key, value) for key, value in node.value)
        for key, value in inner:
            if _starts(key, line, column):
                yield (*route, key.value), True
            yield from _at(value, (*route, key.value), line, column)
    elif isinstance(node, SequenceNode):
        for index, value in enumerate(node.value):
            yield from _at(value, (*route, index), line, column)
    if route and node is not None and _starts(node, line, column):
        yield route, False


def _starts(node: Any, line: int, column: int) -> bool:
    """Whether a node starts at a position, or is a text with it inside, such as with an expression."""
    start, end = ((mark.line, mark.column) for mark in (node.start_mark, node.end_mark))
    return start == (line, column) or (isinstance(node, ScalarNode) and start < (line, column) < end)


def _meant(text: str, fix: PrintedCorrection, route: Route, *, is_key: bool) -> str:
    if is_key:
        return renamed(text, route, fix.meant)
    value = follow(parse(text, "", Findings()), route)
    known = [word for word in fix.words if isinstance(value, str) and value.count(word) == 1]
    if not isinstance(value, str) or not known:
        raise EditError("the file has another text there", "edit the file", route)
    word = near(fix.meant, known) or max(known, key=len)
    return edited(text, Change(route, value.replace(word, fix.meant)))


def _written(text: str, fix: PrintedCorrection, route: Route) -> str:
    """The text with the value that the hint shows, with or without the name of its field."""
    new: Data | None = parse(fix.write, "", Findings())
    old, name = follow(parse(text, "", Findings()), route), route[-1]
    if new is None or (isinstance(old, str) and old not in fix.words):
        raise EditError("the file has another text there", "edit the file", route)
    if isinstance(new, dict) and len(new) == 1 and not fix.write.startswith("{"):
        ((key, new),) = new.items()
        if key != name:
            return edited(renamed(text, route, key), Change((*route[:-1], key), new))
    return edited(text, Change(route, new))


Judge = Callable[[str], Collection[Diagnostic]]

MAX_FIXES: Final = 200
"""Fixes of one file that are tried: each takes at most two renders of its job."""


class FixResult(Struct, frozen=True, kw_only=True):
    """The text of a file, with the findings that were fixed in it."""

    text: str
    findings: tuple[Diagnostic, ...] = ()
    renders: int = 0
    """Times that an edited text was judged."""
    complete: bool = True
    """Whether all fixes were tried."""


def fixed(text: str, judge: Judge, most: int = 2 * MAX_FIXES) -> FixResult:
    """The text with its certain fixes. `judge` returns the findings about a text of the file, at most `most` times.

    A fix can show errors that nothing could find before, but none in its own line. Fixes of different lines are judged
    together, as long as no other error shows up: so none can hide what another does.
    """
    run = _Run(text, judge, most)
    while run.waiting() and run.left and run.tried < MAX_FIXES:
        run.keep_best(run.group())
    return FixResult(text=run.text, findings=tuple(run.done), renders=most - run.left, complete=not run.waiting())


class _Edit(Struct, frozen=True):
    """A fix of a finding."""

    item: Diagnostic
    fix: AnyFix
    lines: dict[int, str] | None = None
    """The lines that it replaces, one by one, by index; None if it does something else."""


class _Run:
    def __init__(self, text: str, judge: Judge, most: int) -> None:
        self.text, self.judge = text, judge
        self.left, self.tried = most, 0
        self.found = judge(text)
        self.done: list[Diagnostic] = []
        self.refused: set[tuple[AnyFix, str]] = set()

    def waiting(self) -> list[_Edit]:
        """The fixes that were not tried."""
        edits = (_Edit(item, fix) for item in self.found for fix in fixes_of(item))
        return [edit for edit in edits if (edit.fix, edit.item.message) not in self.refused]

    def group(self) -> list[_Edit]:
        """The next fix that can be applied, with those of other lines that follow it.

        Few enough that the remaining renders suffice to find one that is kept.
        """
        room = 2 ** min(self.left - 1, 8)
        lines = lines_with_ends(self.text)
        taken: set[int] = set()
        edits: list[_Edit] = []
        for edit in self.waiting():
            if len(edits) >= room or self.tried + len(edits) >= MAX_FIXES:
                break
            after = applied_or_none(self.text, edit.fix)
            if after is None:
                self.tried += 1
                self.refused.add((edit.fix, edit.item.message))
                continue
            replaced = _replaced(lines, after) if isinstance(edit.fix, Rename | Put | PrintedCorrection) else None
            if edits and (replaced is None or not taken.isdisjoint(replaced)):
                break
            edits.append(replace(edit, lines=replaced))
            taken.update(replaced or ())
            if replaced is None:
                break
        self.tried += len(edits)
        return edits

    def keep_best(self, edits: list[_Edit]) -> None:
        """Keep the fixes that pass together; otherwise those of each half that do."""
        found = set(self.found)
        edits = [edit for edit in edits if edit.item in found]  # another fix can correct two mistakes
        if not edits or not self.left:
            return
        self.left -= 1
        after = self._with(edits)
        judged = self.judge(after)
        if are_better([(edit.item, edit.fix) for edit in edits], self.found, judged):
            self.text, self.found = after, judged
            self.done += [edit.item for edit in edits]
        elif len(edits) == 1:
            self.refused.add((edits[0].fix, edits[0].item.message))
        else:
            half = len(edits) // 2
            self.keep_best(edits[:half])
            self.keep_best(edits[half:])

    def _with(self, edits: list[_Edit]) -> str:
        if edits[0].lines is None:
            return applied(self.text, edits[0].fix)
        lines = lines_with_ends(self.text)
        for edit in edits:
            for index, line in (edit.lines or {}).items():
                lines[index] = line
        return "".join(lines)


def _replaced(lines: list[str], after: str) -> dict[int, str] | None:
    """The lines that differ, by index; None if lines were added or removed."""
    new = lines_with_ends(after)
    if len(new) != len(lines):
        return None
    return {index: line for index, (old, line) in enumerate(zip(lines, new, strict=True)) if old != line}


def fixed_alone(text: str, item: Diagnostic, found: Collection[Diagnostic], judge: Judge) -> str | None:
    """The text with the certain fix of one of its findings, and of no other; None if it has none."""
    for fix in fixes_of(item):
        after = applied_or_none(text, fix)
        if after is not None and is_better(item, fix, found, judge(after)):
            return after
    return None


MAX_ALONE: Final = 100
"""Fixes that are tried by themselves; strangers write the files, and each takes a render of its job."""
MAX_JUDGED: Final = 4 << 20
"""Characters of files that are rendered for these fixes: each renders all of its file."""
MAX_AGAIN: Final = 16 << 20
"""Characters of files that are rendered for `gen check --fix` after the first fix of each file.

One more render of each file is in proportion to a check. But a file of 16 KB can have 200 mistakes, each of which can
take renders of all of it, and strangers write many such files.
"""
_BOM: Final = "\ufeff"


class Fixes(Struct, frozen=True, kw_only=True):
    """Edited files, and the number of findings that this mends."""

    edits: tuple[Edit, ...]
    findings: int
    complete: bool = True
    """Whether all fixes were tried."""

    def summary(self, *, done: bool) -> str:
        if not self.findings:
            return "no finding has a certain fix"
        what = f"{counted(self.findings, 'finding')} in {counted(len(self.edits), 'file')}"
        again = "" if self.complete else ", and tries more if it runs again"
        return f"fixed {what}{again}" if done else f"would fix {what}{again}; `gen check --fix` does it"


def find_fixes(root: Path, patterns: Sequence[str]) -> Fixes:
    """The certain fixes of overlays and of the jobs that patterns choose. Overlays are fixed for all jobs."""
    edits: list[Edit] = []
    number, left, complete = 0, MAX_AGAIN, True
    for file, judge in (*_overlays(root, patterns), *_jobs(root, patterns)):
        text = _text(root, file)
        if text is None:
            continue
        mark = _BOM if text.startswith(_BOM) else ""
        result = fixed(text.removeprefix(_BOM), judge, min(2 * MAX_FIXES, 1 + left // max(len(text), 1)))
        left -= max(result.renders - 1, 0) * len(text)
        complete &= result.complete
        if result.findings:
            edits.append(Edit(path=file, old=text, new=mark + result.text))
            number += len(result.findings)
    return Fixes(edits=tuple(edits), findings=number, complete=complete)


def fixes_alone(root: Path, findings: Sequence[Diagnostic]) -> dict[Diagnostic, Edit]:
    """The certain fix of each finding by itself, as far as the limits permit.

    Those whose lines may show a secret are left out.
    """
    wanted: dict[str, set[Diagnostic]] = {}
    for finding in findings:
        if may_be_fixed(finding):
            wanted.setdefault(finding.place.file, set()).add(finding)
    jobs = [file for file in wanted if is_job(file)]
    judges = (*(_overlays(root, ()) if len(wanted) > len(jobs) else ()), *(_jobs(root, jobs) if jobs else ()))
    edits: dict[Diagnostic, Edit] = {}
    left, characters = MAX_ALONE, MAX_JUDGED
    for file, judge in judges:
        text = _text(root, file) if file in wanted and left else None
        if text is None:
            continue
        mark = _BOM if text.startswith(_BOM) else ""
        found = judge(text.removeprefix(_BOM))
        items = [one for one in found if one in wanted[file]][: min(left, characters // max(len(text), 1))]
        left -= len(items)
        characters -= len(items) * len(text)
        for item in items:
            after = fixed_alone(text.removeprefix(_BOM), item, found, judge)
            if after is not None and not _shows_secret(text, after):
                edits[item] = Edit(path=file, old=text, new=mark + after)
    return edits


def _shows_secret(old: str, new: str) -> bool:
    known = set(old.splitlines())
    return any(shows_secret(line) for line in new.splitlines() if line not in known)


def write_fixes(root: Path, fixes: Fixes) -> None:
    """UsageError if a file cannot be written."""
    replace_files(root, {edit.path: edit.new.encode() for edit in fixes.edits})


def _overlays(root: Path, patterns: Sequence[str]) -> Iterator[tuple[str, Judge]]:
    """The overlays, if all jobs are chosen: those of other people are not changed by the way."""
    if patterns:
        return
    names, alone = overlay_names(root, Findings()), Findings()
    with suppress(UsageError):
        OverlayReader(root, alone).read()
    shown = [item for item in (_shown(root, {}) if names else ()) if item not in alone.items and may_be_fixed(item)]
    for name in names:
        file = overlay_file(name)
        by_jobs = any(item.place.file == file for item in shown)
        yield file, partial(_judged_overlay, root, name, by_jobs=by_jobs)


def _judged_overlay(root: Path, name: str, text: str, *, by_jobs: bool) -> list[Diagnostic]:
    """The findings in the text of an overlay; with `by_jobs`, also those that the jobs show."""
    found = Findings()
    with suppress(UsageError):  # such as another overlay that cannot be read
        OverlayReader(root, found).of_text(name, text)
    all_found = _shown(root, {name: text}) if by_jobs and not found.failed() else found.items
    return [item for item in all_found if item.place.file == overlay_file(name)]


def _shown(root: Path, texts: Mapping[str, str]) -> Sequence[Diagnostic]:
    """The findings of all jobs, with these texts of overlays."""
    with suppress(UsageError):
        return render(root, (), (), texts=texts).findings.items
    return ()


def _jobs(root: Path, patterns: Sequence[str]) -> Iterator[tuple[str, Judge]]:
    overlays: Sequence[Overlay] = ()
    with suppress(UsageError):  # without an overlay, as far as that is possible
        overlays = OverlayReader(root, Findings()).read()
    found = Findings()
    for job in chosen_jobs(root, patterns, found) if patterns else all_jobs(root, found):
        yield job.file, partial(_judged_job, job, overlays)


def _judged_job(job: JobFile, overlays: Sequence[Overlay], text: str) -> list[Diagnostic]:
    found = Findings()
    source = source_of(text.encode("utf-8", "surrogateescape"), job.file, found)
    if source is not None:
        found.extend(job_findings(source, job, overlays).items)
        check_clusters(clusters_with_places(source), overlays, found)
    return [item for item in found if item.place.file == job.file]


def _text(root: Path, file: str) -> str | None:
    """The text of a file; None if it is not one that gen may change."""
    if linked_folder(root, file) is not None:
        return None
    with suppress(OSError, ValueError):
        return read_regular(f"{root}/{file}", MAX_BYTES).decode("utf-8")
    return None
