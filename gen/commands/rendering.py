"""Rendering and comparison with `rendered/`, for `gen render` and `gen check`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from threading import active_count
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from gen.base import BugError, Findings, UsageError, counted
from gen.base.codes.grants import OVER_QUOTA
from gen.base.parallel import can_fork, in_background
from gen.base.repository.job_files import all_jobs, has_jobs
from gen.commands.common import VIOLATIONS, Jobs, Kubernetes, NoCache, Overlays, Parallel, Result, Root, repository
from gen.render.cache import Cache, UnchangedRun, cache_folder
from gen.render.results import RunResult
from gen.render.write import Staging, compare
from gen.render.write.compare import Comparison, Status
from gen.report.formats import Report

if TYPE_CHECKING:
    from gen.base.yaml.source import Source
    from gen.render.work import Ahead


class RenderRequest(Struct, frozen=True, kw_only=True):
    """Arguments of `gen render` and `gen check`."""

    jobs: Jobs = ()
    overlay: Overlays = ()
    root: Root = None
    parallel: Parallel = 0
    kubernetes: Kubernetes = None
    no_cache: NoCache = False

    @property
    def cache(self) -> Path | None:
        """Folder of caches; None when none is read or written."""
        return None if self.no_cache else cache_folder()


class RenderedRepository(Struct, frozen=True, kw_only=True):
    """A rendered repository. `comparison` is None when an error keeps `rendered/` from being compared."""

    root: Path
    rendering: RunResult
    comparison: Comparison | None
    cache: Cache | None = None


def render_and_compare(
    request: RenderRequest,
    folder: Path | None,
    *,
    prune_storage: bool = False,
    restart: bool = False,
    base: str | None = None,
    git: Path | None = None,
    shards: Cache | None = None,
    enough: Sequence[str] | None = None,
    staging: Staging | None = None,
) -> RenderedRepository:
    """Render what changed since the cache in `folder` was written, or everything, and compare it with `rendered/`.

    `enough` are the job files whose result is needed: without a cache, no others are rendered; all if it is empty. If
    it is None, the result may have no files, as when the status of all files shows that none changed.

    With `restart`, no committed run is kept. `base` is the ref of the base, in the Git repository of the folder or of
    `git`: what exceeds a quota there already is a warning. `shards` takes the place of the cache: the results of other
    machines, or the file for those of this one. The texts of many new files go to `staging`.
    """
    root = repository(request.root)
    kubernetes = _version(request.kubernetes)
    staging = staging or Staging(writes=False)
    whole = not request.jobs and not request.overlay
    cache = Cache.open(root, folder, kubernetes) if folder is not None and whole and not restart else None
    if cache is not None and enough is None and shards is None and (run := cache.unchanged_run()) is not None:
        return _unchanged(root, run)
    known = shards or (cache.with_last_run() if cache is not None else None)
    if enough and (known is None or known.last is None):
        request, known = replace(request, jobs=tuple(enough)), None
    rendering = known.run_result() if known is not None else None
    while True:
        rendering = rendering or _rendered(root, request, kubernetes, known, staging, restart=restart)
        if any(one.code == OVER_QUOTA.name for one in rendering.findings.items):
            _excuse_quotas(rendering, git or root, base)
        if rendering.findings.failed():
            return RenderedRepository(root=root, rendering=rendering, comparison=None)
        parallel = processes(request.parallel)
        stamps = known.stamps if known is not None else None
        comparison = compare(
            root, rendering, rendering.findings, prune_storage=prune_storage, parallel=parallel, stamps=stamps
        )
        if not comparison.unknown:
            if known is not None and not staging.writes:
                known.remember(rendering)
            return RenderedRepository(root=root, rendering=rendering, comparison=comparison, cache=known)
        if known is None:
            raise BugError("a run without a cache has every text")
        known, rendering = known.without(comparison.unknown), None


def _unchanged(root: Path, run: UnchangedRun) -> RenderedRepository:
    rendering = RunResult(
        files={}, overlays=run.overlays, jobs=run.jobs, whole=True, findings=Findings([*run.findings])
    )
    return RenderedRepository(root=root, rendering=rendering, comparison=Comparison(changes=(), same=run.files))


def processes(parallel: int = 0) -> int:
    """The number that was asked for; by default one per CPU, or one if a fork would copy locks of other threads."""
    return parallel or (1 if active_count() > 1 else os.cpu_count() or 1)


def results_of_shards(root: Path | None, folder: Path | None, kubernetes: str | None) -> Cache | None:
    """What other machines rendered. UsageError if a file of the folder cannot be used."""
    return Cache.of_shards(repository(root), folder, _version(kubernetes)) if folder is not None else None


def _excuse_quotas(rendering: RunResult, root: Path, ref: str | None) -> None:
    """Without a base, each exceeded quota is an error."""
    from gen.base.repository.git import find_base
    from gen.review.gpus_and_costs import excuse_unraised_quotas

    with suppress(UsageError):
        excuse_unraised_quotas(rendering, root, find_base(root, ref))


def _rendered(
    root: Path,
    request: RenderRequest,
    kubernetes: str | None,
    cache: Cache | None,
    staging: Staging,
    *,
    restart: bool,
) -> RunResult:
    parallel = processes(request.parallel)
    fresh = not request.jobs and (cache is None or cache.last is None)
    with read_ahead(root) if fresh and parallel > 1 else nullcontext() as ahead:
        from gen.commands.environment import progress_bar
        from gen.render.run import render

        with progress_bar("rendering jobs") as progress:
            return render(
                *(root, request.overlay, request.jobs, parallel, kubernetes, cache),
                restart=restart,
                progress=progress,
                ahead=ahead,
                staging=staging,
            )


MIN_READ_AHEAD: Final = 200
"""A process that reads fewer job files takes longer than it saves."""
MAX_READ_AHEAD: Final = 1000
"""As many job files as are read before the imports are done."""


@contextmanager
def read_ahead(root: Path) -> Iterator[Ahead | None]:
    """Read job files in another process while this one imports the models and the schemas, which takes longer.

    Those with findings are left out, so that the run reports them. None if there are few files, or if the system cannot
    fork.
    """
    if not can_fork() or not has_jobs(root, MIN_READ_AHEAD):
        yield None
        return
    from gen.base.yaml import source  # before the other process starts, which cannot import it

    with in_background(partial(_sources, root, source.read)) as ahead:
        yield ahead


def _sources(root: Path, read: Callable[[Path, str, Findings], Source | None]) -> dict[str, Source]:
    """Job files without a finding, by path."""
    sources = {}
    for job in islice(all_jobs(root, Findings()), MAX_READ_AHEAD):
        source = read(root, job.file, found := Findings())
        if source is not None and not found.items:
            sources[job.file] = source
    return sources


def _version(text: str | None) -> str | None:
    if text is None:
        return None
    from gen.kubernetes.schemas.registry import minor_version, versions

    if (version := minor_version(text)) not in versions():
        supported = f"{versions()[0]} to {versions()[-1]}"
        raise UsageError(f"unsupported Kubernetes version `{version}` (supported: {supported})")
    return version


def refused(found: Findings, root: Path | None = None, *, in_files: bool = True) -> Result[Report]:
    """Result of a run with errors: nothing was written. `root` is None for findings in texts that are not in files.

    `in_files` is False for findings about edits that were not written, or after `gen check --fix`, which leaves them.
    """
    findings = tuple(found)
    errors = sum(finding.is_error for finding in findings)
    from gen.base.corrections import may_be_fixed

    fixable = sum(may_be_fixed(finding) for finding in findings) if root is not None and in_files else 0
    hint = f"; `gen check --fix` may correct {counted(fixable, 'finding')}" if fixable else ""
    report = Report(findings, (), f"{counted(errors, 'error')}; nothing was written{hint}", root=root)
    return Result(output=report, exit_code=VIOLATIONS)


def summary(rendering: RunResult, comparison: Comparison, wrote: str, removed: str) -> str:
    """`12 jobs in 2 overlays: wrote 3, removed 0, 40 unchanged`."""
    gone = sum(change.removes for change in comparison.changes)
    converted = sum(change.converted for change in comparison.changes)
    edited = sum(change.status is Status.EDITED for change in comparison.changes) - converted
    parts = [f"{wrote} {len(comparison.changes) - gone}", f"{removed} {gone}", f"{comparison.same} unchanged"]
    if edited:
        parts.append(f"{edited} edited by hand")
    if converted:
        remedy = "add `* text=auto eol=lf` to `.gitattributes`, and check the files out again"
        parts.append(f"{converted} with the line ends of Windows, which `core.autocrlf` of Git writes ({remedy})")
    if rendering.behind:
        parts.append(f"{counted(len(rendering.behind), 'run')} kept from an earlier platform")
    jobs, overlays = counted(rendering.jobs, "job"), counted(len(rendering.overlays), "overlay")
    return f"{jobs} in {overlays}: {', '.join(parts)}"
