"""`gen render`: write missing and changed files below `rendered/`, and remove stale ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from gen.commands.compared import RenderRequest, refused, render_and_compare, repository, summary
from gen.commands.result import Result, Stream
from gen.diagnostics import UsageError, counted
from gen.render.write import apply
from gen.report.formats import REPORTERS
from gen.report.report import Report

if TYPE_CHECKING:
    from pathlib import Path

FORMATS = REPORTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(RenderRequest):
    """Arguments of `gen render`."""

    restart: Annotated[
        bool, typer.Option("--restart", help="Render runs of unchanged jobs again, too, with today's overlay and gen.")
    ] = False
    prune_storage: Annotated[bool, typer.Option("--prune-storage", help="Remove storage files that no job uses.")] = (
        False
    )
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Remove all rendered files if no jobs are left.")
    ] = False
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Go on, and render again after each change of jobs and overlays.")
    ] = False


def run(request: Request) -> Result[Report] | Stream[Report]:
    """Nothing is written when there is an error."""
    return _watched(request) if request.watch else render(request, request.cache)


def _watched(request: Request) -> Stream[Report]:
    """UsageError for options that must not act again and again, such as on files that are missing for a moment."""
    once = {
        "--restart": request.restart,
        "--prune-storage": request.prune_storage,
        "--allow-empty": request.allow_empty,
    }
    for option in (name for name, given in once.items() if given):
        raise UsageError(f"`{option}` cannot be combined with `--watch`; run `gen render {option}` once")
    from gen.commands.watch import watch  # noqa: PLC0415 - only for this

    return watch(repository(request.root), lambda: render(request, request.cache).output)


def render(request: Request, cache: Path | None = None) -> Result[Report]:
    """Render with the cache in a folder, or without one."""
    compared = render_and_compare(request, cache, prune_storage=request.prune_storage, restart=request.restart)
    rendering, comparison = compared.rendering, compared.comparison
    if comparison is None or rendering.findings.failed():
        return refused(rendering.findings, compared.root)
    removed = sum(change.new is None for change in comparison.changes)
    if rendering.whole and not rendering.files and removed and not request.allow_empty:
        why = "no overlay selects a job" if rendering.jobs else "no jobs found"
        files = counted(removed, "rendered file")
        raise UsageError(f"{why}; refusing to remove all {files} (use --allow-empty to proceed)")
    apply(compared.root, comparison)
    text = summary(rendering, comparison, "wrote", "removed")
    return Result(output=Report(tuple(rendering.findings), comparison.changes, text, root=compared.root))
