"""`gen plan`: effects of merging the work tree, from `rendered/` at the base commit and in the work tree.

    find_base → read_trees → unrendered_objects → read_overlays → compare_trees → Review → text, Markdown, JSON or HTML

Files that differ from the base are compared with the result of a render, and kept runs with those at the base. Only the
jobs that differ from the base are rendered, if that is enough (see `gen.review.unrendered`); then a plan has the runs
of these alone that are behind. With `--check`, it has all. `gen check` compares all files.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace
from msgspec.structs import replace as replaced

from gen.base import Code, Diagnostic, Findings, Location, UsageError, quoted
from gen.base.codes.rendered import DATA_REMOVED, MOVES_OWNER, NOT_RENDERED, PLAN_INCOMPLETE
from gen.base.repository.files import create_files
from gen.base.repository.git import find_base, head_commit
from gen.base.repository.layout import OVERLAY_FILE, OVERLAYS, is_job, overlays_path, rendered_path, source_job
from gen.commands.check import Request as CheckRequest
from gen.commands.check import judge
from gen.commands.common import CLEAN, VIOLATIONS, Base, LiveRequest, Result, Shards, cluster_targets, repository
from gen.commands.environment import documentation, progress_bar, terminal
from gen.commands.rendering import RenderedRepository, RenderRequest, processes, render_and_compare, results_of_shards
from gen.overlay import load_extensions
from gen.render.cache import cache_folder
from gen.render.rendered_object import RenderedObject
from gen.render.results import RenderedJob, RunResult
from gen.render.write.compare import Comparison
from gen.report.formats import PLAN_REPORTERS, Planned, Report
from gen.review.changes import grant_edits, job_changes
from gen.review.compare import RemovalLimit, compare_trees, run_scopes
from gen.review.gpus_and_costs import read_overlays, removed_overlays
from gen.review.history import check_resumed
from gen.review.kept_runs import behind_runs, compare_kept_runs
from gen.review.rendered_trees import RenderedTrees, changes_in_background, read_trees
from gen.review.result import Review
from gen.review.sources import base_sources, links_to, page_sources, texts_at, texts_of
from gen.review.unrendered import RenderedFiles, differing_jobs, is_enough, unrendered_objects
from gen.review.upgrade import report_upgrades

if TYPE_CHECKING:
    from gen.live.plan_facts import LiveFacts

FORMATS = PLAN_REPORTERS
_MOST_NAMES = 3
"""Files that a message names."""


class Request(LiveRequest, frozen=True, kw_only=True):
    base: Base = None
    check: Annotated[
        bool, typer.Option("--check", help="Also check, as `gen check` does, with one render for both.")
    ] = False
    shards: Shards = None
    save: Annotated[
        Path | None,
        typer.Option(
            "--save", metavar="DIR", help="Also write plan.md and plan.html, and junit.xml with --check, into a folder."
        ),
    ] = None
    live: Annotated[
        bool, typer.Option("--live", help="Ask the clusters, too: training that stops, free devices, queues, claims.")
    ] = False
    max_removed: Annotated[
        str | None,
        typer.Option("--max-removed", metavar="N|P%", help="Fail if more than N objects (or P%) would be removed."),
    ] = None
    allow_data_removal: Annotated[
        bool, typer.Option("--allow-data-removal", help="Do not fail if volumes or claims would be removed.")
    ] = False
    allow_move: Annotated[
        bool, typer.Option("--allow-move", help="Do not fail if objects get another owner, as `gen move` prepares it.")
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


def run(request: Request) -> Result[Planned]:
    """Violations when the change must not be merged. UsageError when there is nothing to compare with."""
    if request.shards is not None and not request.check:
        raise UsageError("`--shards` has the results of a check: set `--check`, too")
    compared = _compared(request) if request.check else None
    checked = _checked(request, compared) if compared is not None else None
    result = review(request, compared)
    result = replace(result, check_fails=checked is not None and checked.failed)
    planned = Planned(
        data=result, live=_live_facts(request, result) if request.live else None, checked=checked, terminal=terminal()
    )
    if request.save is not None:
        _save(request.save, planned)
    return Result(output=planned, exit_code=VIOLATIONS if result.refused or result.check_fails else CLEAN)


def _compared(request: Request) -> RenderedRepository:
    """A render of all jobs, compared with `rendered/`, for the check and the plan."""
    root = repository(request.root)
    find_base(root, request.base)
    shards = results_of_shards(root, request.shards, None)
    return render_and_compare(RenderRequest(root=root), cache_folder(), base=request.base, shards=shards, enough=())


def _checked(request: Request, compared: RenderedRepository) -> Report:
    """The result of `gen check`, with findings of its own."""
    findings = Findings([*compared.rendering.findings.items])
    own = replaced(compared, rendering=replaced(compared.rendering, findings=findings))
    report = judge(CheckRequest(root=compared.root, base=request.base), own).output
    return replaced(report, documentation=documentation())


def _save(folder: Path, planned: Planned) -> None:
    """Write new files, each before the next is formatted."""
    formats = {"plan.md": "markdown", **({"junit.xml": "junit"} if planned.checked else {}), "plan.html": "html"}
    for name, chosen in formats.items():
        create_files(folder, {name: FORMATS[chosen](planned).encode("utf-8", "replace")})


def _live_facts(request: Request, result: Review) -> LiveFacts:
    """The answers of the clusters. They change no verdict. UsageError without the client of Kubernetes."""
    from gen.live.desired import DesiredRun, desired_run
    from gen.live.plan_facts import read_facts

    found = Findings()
    targets = cluster_targets(replace(request, overlay=()), found)

    def runs(objects: Iterable[RenderedObject | None]) -> list[DesiredRun]:
        desired = (desired_run(one, one.key.scope, None) for one in objects if one is not None)
        return [one for one in desired if one is not None]

    stopping = runs(run.pair.before for run in result.stopping)
    return read_facts(targets, found, stopping, runs(run.pair.after for run in result.starting))


def review(request: Request, today: RenderedRepository | None = None) -> Review:
    """UsageError if there is no base to compare with. All other errors are findings of the review.

    `today` is a render of all jobs, if there is one already.
    """
    limit = RemovalLimit.parse(request.max_removed)
    root = repository(request.root)
    base = find_base(root, request.base)
    load_extensions(root)
    found = Findings()
    with changes_in_background(base) as read_changes:
        trees = read_trees(root, base, found).select(request.overlay)
        differing = read_changes()
    found.extend(differing.index)
    jobs = differing_jobs(differing.inputs, trees) if today is None and not request.check else None
    today = today or _today(root, request.base, jobs, trees)
    trees = replace(trees, rendered=today.rendering if today is not None else None)
    kept = _of(jobs, _kept_jobs(root, today, request.overlay))
    if kept:
        compare_kept_runs(kept, root, base, found)
    if today is not None and (resumed := _of(jobs, today.rendering.resumed)):
        check_resumed(resumed, root, root, found)
    unrendered = unrendered_objects(trees.suspects, _expected(root, today), found)
    removed = removed_overlays(root, base, run_scopes(trees.before))
    overlays = read_overlays(root, run_scopes(trees.after), found)
    others = differing.others()
    report_upgrades(base, others, overlays.values, lambda: trees.after, found)
    stale = not unrendered and _report_not_rendered(today, jobs, found)
    result = compare_trees(
        base,
        trees,
        {**removed, **overlays},
        found,
        inputs_differ=lambda: not stale and not _up_to_date(today) and differing.input_folders_differ(),
        allowed=[code for code, given in _allowed(request) if given],
        removal_limit=limit,
        unrendered=unrendered,
        parallel=processes(),
    )
    errors = _render_errors(today) if today is not None or not result.refused else ()
    known = {place for one in result.findings for place in _places(one)}
    new = (one for one in errors if known.isdisjoint(_places(one)))
    result = replace(
        result,
        incomplete=bool(errors) or today is None,
        findings=(*new, *result.findings),
        others=others,
        behind=behind_runs(kept),
        tree=differing.tree,
    )
    site = documentation()
    links = links_to(request.web, request.commit or head_commit(root), base.prefix, os.environ)
    pages = {one.code: site.finding(one.code) for one in result.findings} if site.site else {}
    sources = page_sources(root, result.runs, result.findings)
    forged = {one.path for one in unrendered}
    own = (run for run in result.runs if run.pair.before is not None or run.pair.object.path not in forged)
    changes = job_changes(own, overlays, base_sources(base, result.runs), sources)
    edited = {path for path in others if path.endswith(f"/{OVERLAY_FILE}")}
    grants = grant_edits(texts_at(base, OVERLAYS, edited), texts_of(root, edited))
    return replace(result, links=links, explanations=pages, sources=sources, changes=changes, grants=grants)


def _places(one: Diagnostic) -> set[tuple[str, Location]]:
    """All places of a finding: the same mistake, seen in two ways, has one in common."""
    return {(one.code, place) for place in (one.place, *(place for place, _ in one.related))}


def _render_errors(today: RenderedRepository | None) -> tuple[Diagnostic, ...]:
    """The errors that keep jobs from being rendered, so that the plan does not have their changes."""
    if today is None:
        found = Findings()
        message = "no overlay can be read, so the plan has only the files of earlier renders"
        found.error(PLAN_INCOMPLETE, Location(overlays_path("")), message, "run `gen check` to see the errors")
        return tuple(found)
    if today.comparison is not None:
        return ()
    return tuple(finding for finding in today.rendering.findings if finding.is_error)


def _allowed(request: Request) -> tuple[tuple[Code, bool], ...]:
    return (DATA_REMOVED, request.allow_data_removal), (MOVES_OWNER, request.allow_move)


def _expected(root: Path, today: RenderedRepository | None) -> RenderedFiles:
    """The result of a render, even if `rendered/` cannot be compared with it; empty if no overlay can be read."""
    rendering = today.rendering if today is not None else _render(root, ())
    if rendering is None:
        return RenderedFiles(files={}, keep=(), failed=True)
    failed = today.comparison is None if today is not None else rendering.findings.failed()
    return RenderedFiles(files=rendering.files, keep=rendering.keep, failed=failed)


def _today(
    root: Path, base: str | None, jobs: Collection[str] | None, trees: RenderedTrees
) -> RenderedRepository | None:
    """A render of the jobs that differ from the base if that is enough, or of all.

    None if no overlay can be read, which `gen check` reports.
    """
    known = [one for job in jobs or () if (one := source_job(job)) is not None]
    present = sorted(one.file for one in known if os.path.lexists(f"{root}/{one.file}"))
    if any(one.file not in present and os.path.lexists(f"{root}/{one.lock}") for one in known):
        jobs, present = None, []  # a lock without a job
    if jobs is not None and not present and not trees.suspects and is_enough((), jobs, trees):
        nothing = RunResult(files={}, overlays=(), jobs=0, whole=False)
        return RenderedRepository(root=root, rendering=nothing, comparison=Comparison((), 0))
    narrowed = False
    for cache, enough in ((cache_folder(), present), (None, present), (cache_folder(), ())):
        if narrowed and enough:
            continue
        with suppress(UsageError):
            today = render_and_compare(RenderRequest(root=root), cache, base=base, enough=enough)
            narrowed = not today.rendering.whole
            # a job with an error that does not differ from the base must not count only because there is a cache
            whole = today.rendering.whole and (today.comparison is not None or not enough)
            if whole or (_up_to_date(today) and is_enough(today.rendering.files, jobs or (), trees)):
                return today
    return None


def _report_not_rendered(today: RenderedRepository | None, jobs: Collection[str] | None, found: Findings) -> bool:
    """Warn about jobs with files that a render would change. `jobs` differ from the base; None if all may."""
    if today is None or today.comparison is None:
        return False
    files = today.rendering.files
    changed = [one.path for one in today.comparison.changes]
    sources = {files[path].source.file if path in files else path for path in changed}
    names = sorted(one for one in sources if jobs is None or one in jobs or not is_job(one))
    if names:
        shown = quoted(names, _MOST_NAMES)
        message = f"this plan lacks changes, because `rendered/` is not what gen renders from {shown}"
        found.warning(NOT_RENDERED, Location(rendered_path("")), message, "run `gen render` first")
    return bool(names)


def _of(jobs: Collection[str] | None, rendered: Iterable[RenderedJob]) -> tuple[RenderedJob, ...]:
    """Those of some job files, or all."""
    return tuple(one for one in rendered if jobs is None or one.files[0].source.file in jobs)


def _up_to_date(today: RenderedRepository | None) -> bool:
    """Whether `rendered/` is what `gen render` writes: a change of an overlay may have no effect on it."""
    return today is not None and today.comparison is not None and not today.comparison.changes


def _kept_jobs(root: Path, today: RenderedRepository | None, overlays: Collection[str]) -> tuple[RenderedJob, ...]:
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
    from gen.render.run import render

    try:
        with progress_bar("rendering jobs") as progress:
            return render(root, (), sources, processes(), progress=progress)
    except UsageError:
        return None
