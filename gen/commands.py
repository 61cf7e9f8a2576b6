"""What the commands do, as functions from a request to a report and an exit code. Nothing here prints."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gen.diagnostics import UsageError
from gen.pipeline import Rendering
from gen.pipeline import render as render_all
from gen.report.types import Report
from gen.validate.schemas import minor_version, versions
from gen.workspace import checked_root, find_root
from gen.write import Status, apply, compare

if TYPE_CHECKING:
    from gen.write import Comparison

CLEAN, VIOLATIONS = 0, 1


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for on the command line."""

    root: Path | None
    jobs: tuple[str, ...] = ()
    overlays: tuple[str, ...] = ()
    parallel: int = 0
    kubernetes: str | None = None
    """Kubernetes version to check against, instead of the overlays' own."""
    prune_storage: bool = False
    allow_empty: bool = False


def render(request: Request) -> tuple[Report, int]:
    """Write what is missing or different, and remove what should not be there; nothing when there is an error."""
    root, rendering = _rendered(request)
    found = rendering.findings
    if found.failed():
        return _refused(rendering)
    comparison = compare(root, rendering, found, prune_storage=request.prune_storage)
    if found.failed():
        return _refused(rendering)
    removed = [change for change in comparison.changes if change.new is None]
    if rendering.whole and not rendering.jobs and removed and not request.allow_empty:
        raise UsageError(
            f"there are no jobs, and {len(removed)} files would be removed; if that is meant, add --allow-empty"
        )
    apply(root, comparison)
    return Report(tuple(found), comparison.changes, _summary(rendering, comparison, "wrote", "removed")), CLEAN


def check(request: Request) -> tuple[Report, int]:
    """Compare only: violations when anything would be written or removed."""
    root, rendering = _rendered(request)
    if rendering.findings.failed():
        return _refused(rendering)
    comparison = compare(root, rendering, rendering.findings)
    summary = _summary(rendering, comparison, "would write", "would remove")
    if comparison.changes:
        summary += "; run `gen render` and commit the result"
    failed = rendering.findings.failed() or bool(comparison.changes)
    return Report(tuple(rendering.findings), comparison.changes, summary, done=False), VIOLATIONS if failed else CLEAN


def repository(root: Path | None) -> Path:
    """The repository that was named, or the one around the working directory. UsageError when there is none."""
    return find_root(Path.cwd()) if root is None else checked_root(root)


def _rendered(request: Request) -> tuple[Path, Rendering]:
    root = repository(request.root)
    parallel = request.parallel or os.cpu_count() or 1
    return root, render_all(root, request.overlays, request.jobs, parallel, _version(request.kubernetes))


def _version(text: str | None) -> str | None:
    version = minor_version(text) if text else None
    if version is not None and version not in versions():
        raise UsageError(f"there are no schemas of Kubernetes {version}, only of {versions()[0]} to {versions()[-1]}")
    return version


def _refused(rendering: Rendering) -> tuple[Report, int]:
    findings = tuple(rendering.findings)
    errors = sum(finding.severity.value == "error" for finding in findings)
    return Report(findings, (), f"{errors} error{'' if errors == 1 else 's'}; nothing was written"), VIOLATIONS


def _summary(rendering: Rendering, comparison: Comparison, wrote: str, removed: str) -> str:
    gone = sum(change.new is None for change in comparison.changes)
    edited = sum(change.status is Status.EDITED for change in comparison.changes)
    parts = [f"{wrote} {len(comparison.changes) - gone}", f"{removed} {gone}", f"{comparison.same} unchanged"]
    if edited:
        parts.append(f"{edited} edited by hand")
    return f"{rendering.jobs} jobs in {len(rendering.overlays)} overlays: {', '.join(parts)}"
