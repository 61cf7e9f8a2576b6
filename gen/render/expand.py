"""The expand stage: the runs of a job. Every job has one run today.

Later stages work on each run by itself, and results list the runs of each job file, so a kind of job that starts
several runs needs no other path through the program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gen.diagnostics import Diagnostic
    from gen.render.parse.job import JobInput


class JobRun(Struct, frozen=True, kw_only=True):
    """One run of a job in one overlay."""

    given: JobInput
    """The job, with the values of this run."""
    name: str
    """Name of the run, unique in its namespace. Names of objects are derived from it."""


def expand(given: JobInput) -> tuple[JobRun, ...]:
    """Runs of a job, at least one."""
    return (JobRun(given=given, name=given.name),)


def merge_findings(runs: Iterable[Iterable[Diagnostic]]) -> Iterator[Diagnostic]:
    """Findings of the runs of one job file; a code is reported for only one of the runs at each place."""
    reported: set[tuple[object, str]] = set()
    for findings in runs:
        new = [finding for finding in findings if (finding.place, finding.code) not in reported]
        reported.update((finding.place, finding.code) for finding in new)
        yield from new
