"""Reads the list of jobs: files, overlays, CODEOWNERS and the history of Git."""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from gen.diagnostics import Findings, UsageError, did_you_mean
from gen.inventory.listing import JobRow, Listing
from gen.inventory.numbers import HIDDEN, NumberReader
from gen.kinds import KINDS
from gen.load import read
from gen.load.compiled import mapping_of
from gen.overlay.read import OverlayReader
from gen.overlay.select import selects
from gen.regex import regex
from gen.repository.codeowners import read_code_owners
from gen.repository.git_history import last_changes
from gen.repository.job_files import all_jobs, chosen_jobs
from gen.repository.layout import JOBS, jobs_path
from gen.repository.safe_files import MAX_BYTES, linked_folder, read_regular

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from gen.inventory.listing import Filters
    from gen.load import Source
    from gen.overlay.overlay import Overlay
    from gen.repository.layout import JobFile

_ODD = regex(r"[\s\[{,:-](?:\+[0-9]|0[xo0-9]|True|TRUE|False|FALSE)")
"""Scalars that the compiled reader does not distinguish from others, which are valid."""
_HIDDEN_BLOCK = regex(rf"(?m)^(?:{'|'.join(sorted(HIDDEN))}):.*\n(?:[ \t#-].*\n|\n)*")


def list_jobs(root: Path, patterns: Sequence[str], overlays: Collection[str], filters: Filters) -> Listing:
    """The jobs that match `patterns`, or all, in the named overlays, or all. UsageError for unknown names."""
    found = Findings()
    chosen = _overlays(root, overlays, found)
    jobs = chosen_jobs(root, patterns, found) if patterns else all_jobs(root, found)
    known = {job.namespace for job in jobs}
    for name in filters.namespaces:
        if name not in known:
            raise UsageError(f"unknown namespace `{name}`: {did_you_mean(name, known, otherwise='no jobs exist')}")
    jobs = [job for job in jobs if not filters.namespaces or job.namespace in filters.namespaces]
    rows = _Rows(root, chosen, named=bool(overlays), found=found)
    listed = tuple(row for job in jobs for row in rows.of(job) if filters.accept(row))
    return Listing(rows=listed, findings=tuple(found))


def _overlays(root: Path, names: Collection[str], found: Findings) -> list[Overlay]:
    reader = OverlayReader(root, found)
    if names:
        return reader.read(names)
    try:
        return reader.read()
    except UsageError:  # there is none yet
        return []


class _Rows:
    """Makes the rows of jobs, and collects the findings."""

    def __init__(self, root: Path, overlays: Sequence[Overlay], *, named: bool, found: Findings) -> None:
        self.root, self.overlays, self.named, self.found = root, overlays, named, found
        self.reader = NumberReader()
        self.changes = last_changes(root, JOBS)
        self.owners = read_code_owners(root)
        self.linked = cache(lambda namespace: linked_folder(root, jobs_path(namespace, "")))

    def of(self, job: JobFile) -> Iterator[JobRow]:
        """One row for each overlay that selects the job; one without an overlay if none does."""
        file = _File(self.root, job, linked=self.linked(job.namespace) is not None)
        selected: list[Overlay | None] = [one for one in self.overlays if selects(one, job.key, file.data)]
        if selected or not self.named:
            for overlay in selected or [None]:
                yield self._row(job, file, overlay)
            self.found.extend(file.found.items)

    def _row(self, job: JobFile, file: _File, overlay: Overlay | None) -> JobRow:
        before = len(file.found.items)
        answer = self.reader.numbers(job, file.compiled, overlay, file.source)
        file.found.extend(answer.errors)
        data = file.data
        kind, name = data.get("kind"), data.get("name")
        errors = dict.fromkeys(item.code for item in file.found.items[before if data else 0 :])
        return JobRow(
            namespace=job.namespace,
            job=name if isinstance(name, str) and name else job.stem,
            file=job.file,
            overlay=overlay.name if overlay is not None else None,
            kind=str(kind) if isinstance(kind, str) and kind in KINDS else None,
            **asdict(answer.numbers),
            owners=self.owners.owners(job.file),
            changed=self.changes.get(job.file),
            errors=tuple(errors),
        )


class _File:
    """One job file. It is parsed with the places of its values only if that is necessary."""

    def __init__(self, root: Path, job: JobFile, *, linked: bool) -> None:
        self.root, self.job = root, job
        self.found = Findings()
        self.compiled: Mapping[str, Any] | None = None if linked else self._compiled()
        """The content, if the compiled reader distinguishes everything in it."""

    @property
    def data(self) -> Mapping[str, Any]:
        """The content; empty if the file cannot be read."""
        if self.compiled is not None:
            return self.compiled
        source = self.source()
        return source.data if source is not None and isinstance(source.data, dict) else {}

    @cached_property
    def _source(self) -> Source | None:
        return read(self.root, self.job.file, self.found)

    def source(self) -> Source | None:
        return self._source

    def _compiled(self) -> Mapping[str, Any] | None:
        try:
            text = read_regular(f"{self.root}/{self.job.file}", MAX_BYTES).decode()
        except (OSError, UnicodeDecodeError):
            return None
        return None if _ODD.search(_HIDDEN_BLOCK.sub("", text)) else mapping_of(text)
