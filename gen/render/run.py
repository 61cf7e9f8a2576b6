"""All jobs of a repository: render each file, then the storage and bundles of the overlays, then check across jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from gen.base import Findings, Location
from gen.base.codes.files import TOO_LARGE
from gen.base.containment import contained
from gen.base.parallel import Progress, map_parallel
from gen.base.repository.job_files import all_jobs, chosen_jobs
from gen.base.repository.layout import JOBS, JobFile, overlay_file
from gen.overlay.overlay import Overlay
from gen.overlay.read import OverlayReader
from gen.render.check import with_valid_policies
from gen.render.committed import CommittedRuns
from gen.render.crosscheck import crosscheck
from gen.render.manifest import File
from gen.render.parts.quota import requested_by
from gen.render.pipeline import render_files, render_storage
from gen.render.results import JobResult, JobResults, RenderedJob, RenderedObjects, RenderedOverlay, RunResult
from gen.render.work import Inputs

if TYPE_CHECKING:
    from gen.render.cache import Cache
    from gen.render.read_ahead import Ahead, Sources

MAX_CHARACTERS: Final = 1 << 30
"""Characters of all files of a render, which are in memory together."""
_JOBS_PER_PROCESS = 48
"""Starting a process takes as long as rendering about this many jobs."""


def render(
    root: Path,
    overlays: Collection[str],
    patterns: Sequence[str],
    parallel: int = 1,
    kubernetes: str | None = None,
    cache: Cache | None = None,
    *,
    restart: bool = False,
    progress: Progress | None = None,
    ahead: Ahead | None = None,
) -> RunResult:
    """Render the jobs that match `patterns` for the named overlays; all jobs and all overlays if empty.

    `kubernetes` is a version to check against instead of the overlays' own; it does not change the output. Unchanged
    jobs are taken from the `cache`, without the text of their files. With `restart`, no committed run is kept. `ahead`
    reads job files already.
    """
    found = Findings()
    chosen = _overlays(root, overlays, kubernetes, found)
    chosen = with_valid_policies(chosen, found)
    jobs = chosen_jobs(root, patterns, found) if patterns else all_jobs(root, found)
    results = _results(root, jobs, chosen, parallel, cache, progress, ahead, restart=restart, whole=not overlays)
    whole = not overlays and not patterns
    run, shared = combine(root, chosen, results, found, bundles=not patterns, whole=whole)
    if cache is not None and not found.failed():
        cache.save(results, shared, run)
    return run


def combine(
    root: Path,
    overlays: Sequence[Overlay],
    results: Sequence[JobResult],
    found: Findings,
    *,
    bundles: bool = True,
    whole: bool = True,
    committed: CommittedRuns | None = None,
) -> tuple[RunResult, Sequence[RenderedOverlay]]:
    """The result of a run with the results of its jobs, after the checks across jobs; and the files of overlays.

    `found` has the findings about files that are not in the results, and gets all others. `whole` if the jobs and
    overlays are those of the repository. `committed` are the runs of another folder than `root`.
    """
    complete = whole and not found.failed()
    rendered = [job for result in results for job in result.rendered]
    shared = _storage(rendered, overlays, found)
    if bundles or any(overlay.fields.gitops for overlay in overlays):
        from gen.render.bundle import render_bundles

        shared += render_bundles(overlays, rendered, shared, found, whole=bundles)
    for result in results:
        found.extend(result.findings)
    with contained(found, Location(JOBS), "compare the jobs"):
        runs = committed or CommittedRuns.of(root)
        crosscheck(root, results, rendered, shared, overlays, found, runs, complete=complete)
    together: list[RenderedObjects] = [*rendered, *shared]
    files = {file.path: file for one in together for file in one.files}
    _check_size(files.values(), found)
    run = RunResult(
        files=files,
        overlays=tuple(overlay.name for overlay in overlays),
        jobs=len(results),
        whole=whole,
        findings=found,
        folders=frozenset(file.path.rpartition("/")[0] for job in rendered for file in job.files),
        keep=tuple(sorted({pattern for overlay in overlays for pattern in overlay.fields.rendered.keep})),
        behind=tuple(job for job in rendered if job.behind is not None),
        resumed=tuple(job for job in rendered if job.resumes),
        requested=requested_by(rendered),
    )
    return run, shared


def _check_size(files: Iterable[File], found: Findings) -> None:
    """Report more text than a repository may have. Files from the cache were checked when they were rendered."""
    sizes: Counter[str] = Counter()
    for file in files:
        if file.text is not None:
            sizes[file.source.file] += len(file.text)
    if (total := sizes.total()) > MAX_CHARACTERS:
        (largest, size), *_ = sizes.most_common(1)
        what = f"the rendered files have {total} characters, {size} of them from this file"
        message = f"{what}; the maximum is {MAX_CHARACTERS}"
        hint = "use fewer runs, keep long texts in the image or on a volume, or split the repository"
        found.error(TOO_LARGE, Location(largest), message, hint)


def _overlays(root: Path, names: Collection[str], kubernetes: str | None, found: Findings) -> list[Overlay]:
    overlays = OverlayReader(root, found).read(names)
    return [replace(overlay, kubernetes=kubernetes) for overlay in overlays] if kubernetes is not None else overlays


def _results(
    root: Path,
    jobs: Sequence[JobFile],
    overlays: Sequence[Overlay],
    parallel: int,
    cache: Cache | None,
    progress: Progress | None,
    ahead: Ahead | None,
    *,
    restart: bool,
    whole: bool,
) -> list[JobResult]:
    """The result of each job file, in the order of `jobs`."""
    known = {job: result for job in jobs if (result := cache.result(job) if cache else None) is not None}
    committed = None if restart else CommittedRuns.of(root)
    sources = (ahead() if ahead is not None else None) or {}
    inputs = Inputs(root=root, overlays=overlays, committed=committed, sources=sources, whole=whole)
    work = partial(render_files, inputs)
    changed = sorted((job for job in jobs if job not in known), key=partial(_kind, sources))
    worth_it = _JOBS_PER_PROCESS
    fresh = map_parallel(work, changed, parallel, worth_it=worth_it, progress=progress, codec=JobResults())
    known.update((result.job, result) for result in fresh)
    return [known[job] for job in jobs]


def _kind(sources: Sources, job: JobFile) -> str:
    """The kind of a job that was read ahead. Jobs of a kind are rendered together: each kind has its own model."""
    data = sources[job.file].data if job.file in sources else None
    return str(data.get("kind")) if isinstance(data, dict) else ""


def _storage(rendered: Sequence[RenderedJob], overlays: Sequence[Overlay], found: Findings) -> list[RenderedOverlay]:
    """The storage of each overlay, once per namespace and volume that a job uses."""
    storage = []
    for overlay in overlays:
        uses = ((job.namespace, name) for job in rendered if job.overlay == overlay.name for name in job.volumes)
        own = Findings()
        one = None
        with contained(own, Location(overlay_file(overlay.name)), "render the storage of the overlay"):
            one = render_storage(overlay, uses, own)
        found.extend(own.items)
        storage += [one] if one is not None else []
    return storage
