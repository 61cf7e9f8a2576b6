"""Changes of job files, for `set`, `retire` and the verbs: all files, or none if one would become invalid."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from gen.base import Diagnostic, Findings, Route, counted, dotted, follow
from gen.base.codes.jobs import CANNOT_EDIT
from gen.base.repository.files import replace_files
from gen.base.repository.layout import JobFile
from gen.base.yaml.source import Source, read, source_of
from gen.commands.common import Result
from gen.commands.rendering import refused
from gen.edit.change import Change, EditError
from gen.edit.checks import check_quota, in_old_file, job_findings
from gen.edit.splice import edited, flow
from gen.job.scalars import clipped
from gen.overlay.overlay import Overlay
from gen.overlay.read import OverlayReader
from gen.report.formats import Report

_BOM = "\ufeff".encode()
MAX_LISTED_FILES = 40
"""Changes of more files are only counted."""


class Draft(Struct, frozen=True, kw_only=True):
    """The new text of a job file."""

    text: str
    changes: tuple[str, ...] = ()
    """Descriptions of the changed fields."""
    routes: tuple[Route, ...] = ()
    """The fields."""
    notes: tuple[str, ...] = ()
    """What becomes of the job's runs, in sentences."""

    def with_change(self, source: Source, change: Change, found: Findings) -> Draft:
        """The text with one more change, which is reported if it is impossible."""
        routes = (*self.routes, change.route)
        try:
            text = edited(self.text, change)
        except EditError as error:
            found.error(CANNOT_EDIT, source.place(error.route), error.message, error.hint)
            return Draft(text=self.text, changes=self.changes, routes=routes, notes=self.notes)
        changes = self.changes if text == self.text else (*self.changes, _description(source, change))
        return Draft(text=text, changes=changes, routes=routes, notes=self.notes)


Edit = Callable[[JobFile, Source, Findings], Draft]


class _Edited(Struct, frozen=True):
    file: str
    raw: bytes
    draft: Draft


def change_files(
    root: Path,
    jobs: Sequence[JobFile],
    edit: Edit,
    listed: Findings,
    *,
    dry_run: bool = False,
) -> Result[Report]:
    """Edit all files, or none if one would become invalid."""
    overlays = OverlayReader(root, Findings()).read()  # `gen render` reports errors in overlays
    found = Findings() if jobs else listed  # errors in other files do not matter here
    results = [_edit(root, job, edit, overlays, found) for job in jobs]
    if not found.failed():
        pairs = zip(jobs, results, strict=True)
        changed = {job: one.raw for job, one in pairs if one is not None and one.draft.changes}
        check_quota(root, changed, overlays, found)
    if found.failed():
        return refused(found, root, in_files=False)
    known = [result for result in results if result is not None]
    done = [result for result in known if result.draft.changes]
    if not dry_run:
        replace_files(root, {result.file: result.raw for result in done})
    notes = [note for result in known for note in result.draft.notes]
    return Result(output=Report(tuple(found), (), _summary(done, len(jobs), notes, dry_run=dry_run), root=root))


def _edit(
    root: Path,
    job: JobFile,
    edit: Edit,
    overlays: Sequence[Overlay],
    found: Findings,
) -> _Edited | None:
    """One file with its changes; None if it cannot be read."""
    source = read(root, job.file, found)
    if source is None:
        return None
    draft = edit(job, source, found)
    # the reader drops a byte order mark
    mark = _BOM if hashlib.sha256(source.text.encode()).hexdigest() != source.digest else b""
    raw = mark + draft.text.encode()
    new = source_of(raw, job.file, found)
    if new is not None:
        found.extend(in_old_file(caused_errors(source, new, job, overlays), source, new, draft.routes))
    return _Edited(job.file, raw, draft)


def caused_errors(old: Source, new: Source, job: JobFile, overlays: Sequence[Overlay]) -> list[Diagnostic]:
    """Errors of the new text that the old one did not have, so that a file can be corrected step by step."""
    errors = _errors(new, job, overlays)
    known = {(item.code, item.message) for item in _errors(old, job, overlays)} if errors else set()
    return [item for item in errors if (item.code, item.message) not in known]


def _errors(source: Source, job: JobFile, overlays: Sequence[Overlay]) -> list[Diagnostic]:
    return [item for item in job_findings(source, job, overlays) if item.is_error]


def _description(source: Source, change: Change) -> str:
    name = printable(dotted(change.route, clipped))
    if change.value is None:
        return f"{name} removed"
    old, new = follow(source.data, change.route), printable(flow(change.value))
    if change.append:
        return f"{name} gets {new}"
    return f"{name} {printable(flow(old))} → {new}" if old else f"{name} set to {new}"


def printable(text: str) -> str:
    """Text of a file, without characters that control a terminal."""
    return clipped("".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)) or '""'


def _summary(done: Sequence[_Edited], jobs: int, notes: Sequence[str], *, dry_run: bool) -> str:
    files = counted(jobs, "job file")
    listed = list(dict.fromkeys(notes))[:MAX_LISTED_FILES]
    if not done:
        unchanged = f"no changes: {files} {'is' if jobs == 1 else 'are'} already up to date"
        return "\n".join([*listed, unchanged])
    lines = [f"{result.file}: {', '.join(result.draft.changes)}" for result in done[:MAX_LISTED_FILES]]
    lines += [f"… and {len(done) - MAX_LISTED_FILES} more"] if len(done) > MAX_LISTED_FILES else []
    end = "run `gen render` and commit the result" if not dry_run else "nothing was written"
    verb = "would change" if dry_run else "changed"
    return "\n".join([*lines, *listed, f"{verb} {len(done)} of {files}; {end}"])
