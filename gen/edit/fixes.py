"""The certain fixes of findings in job files and overlays, for `gen check --fix` and for reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct

from gen.base.findings import Diagnostic, Findings, UsageError, counted
from gen.base.repository.files import MAX_BYTES, Edit, linked_folder, read_regular, replace_files
from gen.base.repository.job_files import all_jobs, chosen_jobs, overlay_names
from gen.base.repository.layout import JobFile, is_job, overlay_file
from gen.base.yaml.source import source_of
from gen.edit.checks import job_findings
from gen.edit.fix import MAX_FIXES, Judge, fixed, fixed_alone
from gen.kubernetes.secrets import shows_secret
from gen.overlay.overlay import Overlay
from gen.overlay.read import OverlayReader

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
    """The certain fixes of overlays and of jobs, of which patterns choose some. Overlays are fixed for all jobs."""
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
        if finding.fixes:
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
    for name in overlay_names(root, Findings()) if not patterns else ():
        yield overlay_file(name), partial(_judged_overlay, root, name)


def _judged_overlay(root: Path, name: str, text: str) -> list[Diagnostic]:
    found = Findings()
    with suppress(UsageError):  # such as another overlay that cannot be read
        OverlayReader(root, found).of_text(name, text)
    return [item for item in found if item.place.file == overlay_file(name)]


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
    return [item for item in found if item.place.file == job.file]


def _text(root: Path, file: str) -> str | None:
    """The text of a file; None if it is not one that gen may change."""
    if linked_folder(root, file) is not None:
        return None
    with suppress(OSError, ValueError):
        return read_regular(f"{root}/{file}", MAX_BYTES).decode("utf-8")
    return None
