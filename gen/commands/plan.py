"""`gen plan`: effects of merging the work tree, from `rendered/` at the base commit and in the work tree.

    find_base → read_trees → unrendered_objects → read_overlays → compare_trees → Review → text, Markdown, JSON or HTML

A render of all jobs, which the cache makes short, finds the runs that are behind. Files that differ from the base are
compared with its result, and kept runs with those at the base. `gen check` compares all files.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from gen.commands.compared import RenderRequest, render_and_compare, repository
from gen.commands.documentation import documentation
from gen.commands.options import Base, Overlays, Root
from gen.commands.progress import progress_bar
from gen.commands.result import CLEAN, VIOLATIONS, Result
from gen.diagnostics import Findings, UsageError
from gen.overlay.extensions import load_extensions
from gen.render.cache import cache_folder
from gen.report.formats import PLAN_REPORTERS
from gen.repository.git import find_base, head_commit
from gen.repository.git_index import check_index
from gen.review.behind import behind_runs
from gen.review.compare import compare_trees, run_scopes
from gen.review.kept_runs import compare_kept_runs
from gen.review.links import links_to
from gen.review.removals import RemovalLimit
from gen.review.rendered_trees import read_trees
from gen.review.review import Review
from gen.review.sources import page_sources
from gen.review.unrendered import Expected, unrendered_objects
from gen.review.usage import read_overlays

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from gen.commands.compared import Compared
    from gen.render.results import RenderedJob, RunResult

FORMATS = PLAN_REPORTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Arguments of `gen plan`."""

    base: Base = None
    overlay: Overlays = ()
    root: Root = None
    max_removed: Annotated[
        str | None,
        typer.Option("--max-removed", metavar="N|P%", help="Fail if more than N objects (or P%) would be removed."),
    ] = None
    allow_data_removal: Annotated[
        bool, typer.Option("--allow-data-removal", help="Do not fail if volumes or claims would be removed.")
    ] = False
    web: Annotated[
        str | None,
        typer.Option(
            "--web",
            metavar="URL",
            help="Repository that the page links to, such as https://github.com/example/jobs. [default: that of CI]",
        ),
    ] = None
    commit: Annotated[
        str | None,
        typer.Option("--commit", metavar="SHA", help="Commit that the page links to. [default: that of the work tree]"),
    ] = None


def run(request: Request) -> Result[Review]:
    """Violations when the change must not be merged. UsageError when there is nothing to compare with."""
    result = review(request)
    return Result(output=result, exit_code=VIOLATIONS if result.refused else CLEAN)


def review(request: Request) -> Review:
    """UsageError if there is no base to compare with. All other errors are findings of the review."""
    limit = RemovalLimit.parse(request.max_removed)
    root = repository(request.root)
    base = find_base(root, request.base)
    load_extensions(root)
    found = Findings()
    trees = read_trees(root, base, found).select(request.overlay)
    check_index(root, found)
    today = _today(root)
    kept = _kept_jobs(root, today, request.overlay)
    if kept:
        compare_kept_runs(kept, root, base, found)
    unrendered = unrendered_objects(trees.suspects, _expected(root, today), found)
    result = compare_trees(
        base,
        trees,
        read_overlays(root, run_scopes(trees), found),
        found,
        inputs_differ=lambda: not _up_to_date(today) and base.inputs_differ(),
        allow_data_removal=request.allow_data_removal,
        removal_limit=limit,
        unrendered=unrendered,
        behind=behind_runs(kept),
    )
    site = documentation()
    links = links_to(request.web, request.commit or head_commit(root), base.prefix, os.environ)
    pages = {one.code: site.finding(one.code, one.place.file) for one in result.findings} if site.site else {}
    return replace(result, links=links, explanations=pages, sources=page_sources(root, result))


def _expected(root: Path, today: Compared | None) -> Expected:
    """The result of a render, even if `rendered/` cannot be compared with it; empty if no overlay can be read."""
    rendering = today.rendering if today is not None else _render(root, ())
    if rendering is None:
        return Expected(files={}, keep=(), failed=True)
    failed = today.comparison is None if today is not None else rendering.findings.failed()
    return Expected(files=rendering.files, keep=rendering.keep, failed=failed)


def _today(root: Path) -> Compared | None:
    """A render of all jobs; None if no overlay can be read, which `gen check` reports."""
    try:
        return render_and_compare(RenderRequest(root=root), cache_folder())
    except UsageError:
        return None


def _up_to_date(today: Compared | None) -> bool:
    """Whether `rendered/` is what `gen render` writes: a change of an overlay may have no effect on it."""
    return today is not None and today.comparison is not None and not today.comparison.changes


def _kept_jobs(root: Path, today: Compared | None, overlays: Collection[str]) -> tuple[RenderedJob, ...]:
    """The jobs of some overlays, or of all, with a run that is behind the platform."""
    jobs = today.rendering.behind if today is not None else ()
    if not all(_has_texts(job) for job in jobs):  # the cache has none
        with_texts = _render(root, sorted({job.files[0].source.file for job in jobs}))
        jobs = with_texts.behind if with_texts is not None else ()
    return tuple(job for job in jobs if not overlays or job.overlay in overlays)


def _has_texts(job: RenderedJob) -> bool:
    files = (*job.files, *(job.behind.fresh if job.behind is not None else ()))
    return all(file.text is not None for file in files)


def _render(root: Path, sources: Sequence[str]) -> RunResult | None:
    """The result of a render of some jobs, or of all; None if no overlay can be read."""
    from gen.render.run import render  # noqa: PLC0415 - a plan without changes does not need it

    try:
        with progress_bar("rendering jobs") as progress:
            return render(root, (), sources, os.cpu_count() or 1, progress=progress)
    except UsageError:
        return None
