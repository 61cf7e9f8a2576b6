"""`gen validate`: check manifests from files, folders or standard input against schemas and rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gen.check.files import Inspection
from gen.diagnostics import Severity, counted
from gen.report.types import Report

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Arguments of `gen validate`."""

    paths: tuple[str, ...]
    kubernetes: str | None = None
    """Version for all files; else that of the overlay whose folder a file is in, or the newest."""
    schemas: tuple[Path, ...] = ()
    """Folders or files of CustomResourceDefinitions."""
    ignore_missing: bool = False
    """Whether kinds without a schema pass."""
    parallel: int = 1


def run(request: Request) -> tuple[Report, int]:
    """The report, and 1 when there is an error. UsageError when there is nothing to check."""
    done = Inspection(
        request.paths, request.kubernetes, request.schemas, request.ignore_missing, request.parallel
    ).run()
    counts = {severity: sum(item.severity is severity for item in done.findings.items) for severity in Severity}
    errors, warnings, notes = (counts[one] for one in (Severity.ERROR, Severity.WARNING, Severity.NOTE))
    what = f"{counted(done.objects, 'object')} in {counted(done.files, 'file')}"
    summary = f"{what}: {counted(errors, 'error')}, {counted(warnings, 'warning')}"
    summary = f"{summary}, {notes} silenced" if notes else summary
    return Report(tuple(done.findings), (), summary), int(done.findings.failed())
