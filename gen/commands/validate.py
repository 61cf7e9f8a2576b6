"""`gen validate`: check manifests from files, folders or standard input against schemas and rules."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from gen.check.files import ManifestChecker
from gen.commands.options import Parallel
from gen.commands.progress import progress_bar
from gen.commands.result import Result
from gen.diagnostics import Severity, UsageError, counted
from gen.overlay.extensions import load_extensions
from gen.report.formats import REPORTERS
from gen.report.report import Report
from gen.repository.layout import is_input
from gen.repository.root import find_root

FORMATS = REPORTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Arguments of `gen validate`."""

    paths: Annotated[
        tuple[str, ...],
        typer.Argument(help="Files, folders, or - for standard input.", metavar="PATH", show_default=False),
    ]
    schemas: Annotated[
        tuple[Path, ...],
        typer.Option(
            "--schema-location", metavar="PATH", help="File or folder of CustomResourceDefinitions; may be repeated."
        ),
    ] = ()
    ignore_missing: Annotated[bool, typer.Option("--ignore-missing-schemas", help="Skip kinds without a schema.")] = (
        False
    )
    kubernetes: Annotated[
        str | None,
        typer.Option("--kubernetes-version", help="Version for all files. [default: the overlay's, or the newest]"),
    ] = None
    policies: Annotated[
        tuple[Path, ...],
        typer.Option(
            "--policy", metavar="PATH", help="File or folder of ValidatingAdmissionPolicies to apply; may be repeated."
        ),
    ] = ()
    parallel: Parallel = 0


def run(request: Request) -> Result[Report]:
    """UsageError when there is nothing to check."""
    with suppress(UsageError):  # manifests outside of a repository have no plugins
        load_extensions(find_root(Path.cwd()))
    processes = request.parallel or os.cpu_count() or 1
    checker = ManifestChecker(
        request.paths, request.kubernetes, request.schemas, request.ignore_missing, processes, request.policies
    )
    with progress_bar("checking files") as progress:
        done = checker.run(progress)
    counts = {severity: sum(item.severity is severity for item in done.findings.items) for severity in Severity}
    errors, warnings, notes = (counts[one] for one in (Severity.ERROR, Severity.WARNING, Severity.NOTE))
    what = f"{counted(done.objects, 'object')} in {counted(done.files, 'file')}"
    summary = f"{what}: {counted(errors, 'error')}, {counted(warnings, 'warning')}"
    summary = f"{summary}, {notes} silenced" if notes else summary
    if any(item.code == "not-an-object" and is_input(item.place.file) for item in done.findings.items):
        summary = f"{summary}\n`gen check` checks jobs and overlays, which are not manifests"
    report = Report(tuple(done.findings), (), summary, root=Path())
    return Result(output=report, exit_code=int(done.findings.failed()))
