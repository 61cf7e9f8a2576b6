"""`gen validate`: check manifests in files, folders or standard input against schemas and rules.

A render checks the objects that it is about to write in the same way.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct
from msgspec.structs import replace

from gen.base import Findings, Severity, UsageError, counted
from gen.base.repository.layout import find_root, is_input, overlay_folder
from gen.commands.common import Parallel, Result, surrounding_repository
from gen.commands.environment import progress_bar
from gen.kubernetes.check.files import ManifestChecker
from gen.overlay import load_extensions
from gen.overlay.files import ClusterFiles, OverlayFiles
from gen.report.formats import Report


class Request(Struct, frozen=True, kw_only=True):
    paths: Annotated[tuple[str, ...], typer.Argument(help="Files, folders, or - for standard input.", metavar="PATH")]
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
        typer.Option(
            "--kubernetes-version",
            metavar="VERSION",
            help="Version for all files. [default: the overlay's, or the newest]",
        ),
    ] = None
    policies: Annotated[
        tuple[Path, ...],
        typer.Option(
            "--policy", metavar="PATH", help="File or folder of ValidatingAdmissionPolicies to apply; may be repeated."
        ),
    ] = ()
    parallel: Parallel = 0


class _OverlayClusters:
    """The clusters of the overlays of the repository around the current folder.

    Errors in the files of overlays are for `gen render` to report.
    """

    @cached_property
    def _overlays(self) -> OverlayFiles | None:
        try:
            return OverlayFiles(find_root(Path.cwd()), Findings())
        except UsageError:
            return None

    def cluster_of(self, file: str) -> ClusterFiles | None:
        """The policies of an overlay only apply to its rendered files."""
        cluster = self._overlays.cluster_of(file) if self._overlays is not None else None
        return cluster if cluster is None or overlay_folder(file) else replace(cluster, policies=())

    def scope_of(self, file: str) -> str | None:
        return overlay_folder(file)

    def shown(self, definition: Path) -> str | None:
        return definition.relative_to(self._overlays.root).as_posix() if self._overlays is not None else None


def run(request: Request) -> Result[Report]:
    """UsageError when there is nothing to check."""
    if (root := surrounding_repository()) is not None:  # other manifests have no plugins
        load_extensions(root)
    processes = request.parallel or os.cpu_count() or 1
    checker = ManifestChecker(
        request.paths,
        request.kubernetes,
        request.schemas,
        missing=request.ignore_missing,
        parallel=processes,
        policies=request.policies,
        clusters=_OverlayClusters(),
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
