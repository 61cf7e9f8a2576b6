"""The list of jobs: one row for each job and overlay, from job files, overlays, CODEOWNERS and the history of Git."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import get_args

from msgspec import Struct
from msgspec.structs import asdict

from gen.base.containment import contained
from gen.base.findings import Diagnostic, Findings, Location, UsageError, did_you_mean
from gen.base.repository.codeowners import read_code_owners
from gen.base.repository.git import Change, last_changes
from gen.base.repository.job_files import all_jobs, chosen_jobs
from gen.base.repository.layout import JOBS, JobFile
from gen.base.yaml.source import Source, read
from gen.base.yaml.strict import Data
from gen.job.fields import JobFields
from gen.job.kinds import ALL_KINDS
from gen.overlay.overlay import Overlay
from gen.overlay.read import OverlayReader
from gen.overlay.select import selects
from gen.review.job_requests import NumberReader, Numbers

STATES: tuple[str, ...] = get_args(JobFields.model_fields["state"].annotation)


class JobRow(Numbers, frozen=True, kw_only=True):
    """A job in one overlay."""

    namespace: str
    job: str
    file: str
    overlay: str | None
    """None if no overlay selects the job."""
    kind: str | None = None
    owners: tuple[str, ...] = ()
    changed: Change | None = None
    errors: tuple[str, ...] = ()
    """Codes of the errors in the fields above."""


class Listing(Struct, frozen=True, kw_only=True):
    """All rows that the filters accept, and the findings about them."""

    rows: tuple[JobRow, ...]
    findings: tuple[Diagnostic, ...]
    with_metrics: bool = False
    """Whether tables show the metrics."""

    @property
    def jobs(self) -> int:
        return len({row.file for row in self.rows})


class Filters(Struct, frozen=True, kw_only=True):
    """Accepted values; all if empty."""

    namespaces: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    states: tuple[str, ...] = ()

    def accept(self, row: JobRow) -> bool:
        return (not self.kinds or row.kind in self.kinds) and (not self.states or row.state in self.states)


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
    listed: list[JobRow] = []
    for job in jobs:
        with contained(found, Location(job.file), "list the job"):
            listed += (row for row in rows.of(job) if filters.accept(row))
    return Listing(rows=tuple(listed), findings=tuple(found))


def _overlays(root: Path, names: Collection[str], found: Findings) -> list[Overlay]:
    reader = OverlayReader(root, found)
    if names:
        return reader.read(names)
    try:
        return reader.read()
    except UsageError:  # there is none yet
        return []


class _Rows:
    """Builds the rows of jobs and collects the findings."""

    def __init__(self, root: Path, overlays: Sequence[Overlay], *, named: bool, found: Findings) -> None:
        self.root, self.overlays, self.named, self.found = root, overlays, named, found
        self.reader = NumberReader()
        self.changes = last_changes(root, JOBS)
        self.owners = read_code_owners(root)

    def of(self, job: JobFile) -> Iterator[JobRow]:
        """One row for each overlay that selects the job; one without an overlay if none does."""
        found = Findings()
        source = read(self.root, job.file, found)
        selected: list[Overlay | None] = [one for one in self.overlays if selects(one, job.key, _fields(source))]
        if selected or not self.named:
            for overlay in selected or [None]:
                yield self._row(job, source, overlay, found)
            self.found.extend(found.items)

    def _row(self, job: JobFile, source: Source | None, overlay: Overlay | None, found: Findings) -> JobRow:
        data = _fields(source)
        numbers, problems = self.reader.numbers(job, source, overlay)
        found.extend(problems)
        kind, name = data.get("kind"), data.get("name")
        errors = dict.fromkeys(item.code for item in (problems if data else found.items))
        return JobRow(
            namespace=job.namespace,
            job=name if isinstance(name, str) and name else job.stem,
            file=job.file,
            overlay=overlay.name if overlay is not None else None,
            kind=str(kind) if isinstance(kind, str) and kind in ALL_KINDS else None,
            **asdict(numbers),
            owners=self.owners.owners(job.file),
            changed=self.changes.get(job.file),
            errors=tuple(errors),
        )


def _fields(source: Source | None) -> Mapping[str, Data]:
    """The fields of a job file; empty if it cannot be read."""
    return source.data if source is not None and isinstance(source.data, dict) else {}
