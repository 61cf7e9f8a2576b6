"""What the commands do, as functions from a request to a report and an exit code. Nothing here prints."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gen.diagnostics import BugError, UsageError, counted
from gen.render.cache import Cache
from gen.render.write import Status, apply, compare
from gen.report.types import Report
from gen.repository.layout import checked_root, find_root

if TYPE_CHECKING:
    from gen.diagnostics import Findings
    from gen.render.results import Rendering
    from gen.render.write import Comparison

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
    cache: Path | None = None
    """Folder of caches; none is read or written when it is None."""
    prune_storage: bool = False
    allow_empty: bool = False


def render(request: Request) -> tuple[Report, int]:
    """Write what is missing or different, and remove what should not be there; nothing when there is an error."""
    root, rendering, comparison = _compared(request)
    if comparison is None or rendering.findings.failed():
        return refused(rendering.findings)
    removed = [change for change in comparison.changes if change.new is None]
    if rendering.whole and not rendering.files and removed and not request.allow_empty:
        why = "no job is left in any overlay" if rendering.jobs else "there are no jobs"
        files = "1 file" if len(removed) == 1 else f"{len(removed)} files"
        raise UsageError(f"{why}, and {files} would be removed; if that is meant, add --allow-empty")
    apply(root, comparison)
    summary = _summary(rendering, comparison, "wrote", "removed")
    return Report(tuple(rendering.findings), comparison.changes, summary), CLEAN


def check(request: Request) -> tuple[Report, int]:
    """Compare only: violations when anything would be written or removed."""
    _, rendering, comparison = _compared(request)
    if comparison is None:
        return refused(rendering.findings)
    summary = _summary(rendering, comparison, "would write", "would remove")
    if comparison.changes:
        summary += "; run `gen render` and commit the result"
    failed = rendering.findings.failed() or bool(comparison.changes)
    return Report(tuple(rendering.findings), comparison.changes, summary, done=False), VIOLATIONS if failed else CLEAN


def repository(root: Path | None) -> Path:
    """The repository that was named, or the one around the working directory. UsageError when there is none."""
    return find_root(Path.cwd()) if root is None else checked_root(root)


def _compared(request: Request) -> tuple[Path, Rendering, Comparison | None]:
    """What there should be, and how what there is differs from it; None when an error keeps it from being known."""
    root = repository(request.root)
    kubernetes = _version(request.kubernetes)
    whole = not request.jobs and not request.overlays
    cache = Cache.open(root, request.cache, kubernetes) if request.cache is not None and whole else None
    for known in (cache, None):
        rendering = (known.rendering() if known else None) or _rendered(root, request, kubernetes, known)
        if rendering.findings.failed():
            return root, rendering, None
        comparison = compare(root, rendering, rendering.findings, prune_storage=request.prune_storage)
        if not comparison.unknown:
            return root, rendering, comparison
    raise BugError("a run without a cache knows every text")


def _rendered(root: Path, request: Request, kubernetes: str | None, cache: Cache | None) -> Rendering:
    from gen.render.pipeline import render as render_all  # noqa: PLC0415 - not needed where nothing changed

    parallel = request.parallel or os.cpu_count() or 1
    return render_all(root, request.overlays, request.jobs, parallel, kubernetes, cache)


def _version(text: str | None) -> str | None:
    if text is None:
        return None
    from gen.schemas.registry import minor_version, versions  # noqa: PLC0415 - as above

    if (version := minor_version(text)) not in versions():
        raise UsageError(f"there are no schemas of Kubernetes {version}, only of {versions()[0]} to {versions()[-1]}")
    return version


def refused(found: Findings) -> tuple[Report, int]:
    """The end of a run in which something was wrong."""
    findings = tuple(found)
    errors = sum(finding.severity.value == "error" for finding in findings)
    return Report(findings, (), f"{counted(errors, 'error')}; nothing was written"), VIOLATIONS


def _summary(rendering: Rendering, comparison: Comparison, wrote: str, removed: str) -> str:
    gone = sum(change.new is None for change in comparison.changes)
    edited = sum(change.status is Status.EDITED for change in comparison.changes)
    parts = [f"{wrote} {len(comparison.changes) - gone}", f"{removed} {gone}", f"{comparison.same} unchanged"]
    if edited:
        parts.append(f"{edited} edited by hand")
    jobs, overlays = counted(rendering.jobs, "job"), counted(len(rendering.overlays), "overlay")
    return f"{jobs} in {overlays}: {', '.join(parts)}"
