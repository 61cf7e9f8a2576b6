"""All jobs of a repository: render each file, then the storage and bundles of the overlays, then check across jobs.

The objects of a bundle depend only on the overlay and on the objects that are rendered for it. Patches do not apply to
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from gen.base import Findings, Location, contained
from gen.base.codes.files import TOO_LARGE
from gen.base.codes.jobs import NAME_TOO_LONG
from gen.base.parallel import Progress, map_parallel
from gen.base.repository.job_files import all_jobs, chosen_jobs
from gen.base.repository.layout import JOBS, JobFile, RenderedPath, overlay_file, settings_file
from gen.base.yaml.source import Source
from gen.job.kinds import ALL_KINDS
from gen.kubernetes.facts.builtin import CONFIG_MAP, DATA, DEPLOYMENT, INGRESS, RESOURCE_QUOTA, SERVICE
from gen.kubernetes.objects import MAX_NAME
from gen.overlay.overlay import Overlay
from gen.overlay.profiles.engines.base import Site, Workload
from gen.overlay.read import OverlayReader
from gen.render.cache import Cache
from gen.render.check import check_manifests, with_valid_policies
from gen.render.committed import CommittedRuns
from gen.render.crosscheck import crosscheck
from gen.render.emit import emit, emit_file
from gen.render.parts.quota import requested_by
from gen.render.patch.provenance import Provenance
from gen.render.pipeline import AT_ONCE, render_files, render_storage
from gen.render.results import (
    File,
    JobResult,
    JobResults,
    Manifest,
    OverQuota,
    PatchedObjects,
    RenderedJob,
    RenderedObjects,
    RenderedOverlay,
    RunResult,
    SealedObjects,
    summaries_of,
)
from gen.render.starters import STARTERS
from gen.render.work import Ahead, Inputs
from gen.render.write import Staging, settle


def render_bundles(
    overlays: Sequence[Overlay],
    jobs: Sequence[RenderedJob],
    storage: Sequence[RenderedOverlay],
    found: Findings,
    *,
    whole: bool = True,
) -> list[RenderedOverlay]:
    """The bundles of all overlays, for their rendered jobs and storage; if not `whole`, only what belongs to jobs."""
    bundles: list[RenderedOverlay] = []
    for overlay in overlays:
        if overlay.fields.gitops is None:
            continue
        own = [job for job in jobs if job.overlay == overlay.name]
        stored = [file.path for one in storage if one.overlay == overlay.name for file in one.files]
        with contained(found, Location(overlay_file(overlay.name)), "render the objects of GitOps engines"):
            bundles += _bundle(overlay, site_of(overlay, own, stored), found, whole=whole)
    return bundles


def _bundle(overlay: Overlay, site: Site, found: Findings, *, whole: bool) -> Iterator[RenderedOverlay]:
    """The bundle of an overlay, unless it has an error."""
    manifests = tuple(_manifests(overlay, site, found, whole=whole))
    patched = PatchedObjects(manifests, manifests, tuple(Provenance() for _ in manifests), frozenset())
    valid = check_manifests(patched, overlay.kinds, found)
    if valid is not None:
        settings = _settings(overlay, site) if whole else ()
        files = (*emit(SealedObjects(valid.manifests), overlay.name), *settings)
        yield RenderedOverlay(overlay=overlay.name, files=files, matched=frozenset())


def site_of(overlay: Overlay, jobs: Sequence[RenderedJob], storage: Sequence[str]) -> Site:
    """The overlay as its engines see it; `storage` has the paths of its storage files.

    Kinds that no job uses are absent unless `operators` lists them, so another version of gen changes no bundle.
    """
    fields = overlay.fields
    named = fields.namespaces.keys()
    rendered = {kind for job in jobs for kind in job.kinds}
    workloads = _workloads(overlay, rendered)
    limited = any(grant.resource_quota for grant in fields.namespaces.values())
    kinds = {*_companions(overlay), *workloads, *(kind.rpartition("/")[::2] for kind in rendered)}
    return Site(
        overlay=overlay.name,
        granted=None if not named or "*" in named else tuple(sorted(named)),
        jobs=_jobs(jobs),
        storage_kinds=(*DATA, *([RESOURCE_QUOTA] if limited else [])),
        stored=tuple(sorted({RenderedPath.parse(path).namespace for path in storage})),
        queues=overlay.suspends_runs,
        workloads=tuple(workload for _, workload in sorted(workloads.items())),
        kinds=tuple(sorted(kinds)),
    )


def _jobs(jobs: Sequence[RenderedJob]) -> dict[tuple[str, str], frozenset[str]]:
    """By the folders of their files. The runs of a sweep share one."""
    found: dict[tuple[str, str], set[str]] = {}
    for job in jobs:
        for file in job.files[:1]:
            path = RenderedPath.parse(file.path)
            found.setdefault((path.namespace, path.job), set()).update(job.kinds)
    return {key: frozenset(kinds) for key, kinds in sorted(found.items())}


def _companions(overlay: Overlay) -> Iterator[tuple[str, str]]:
    """Kinds of objects that jobs of every kind can have. All are named: an engine prunes only permitted kinds."""
    yield from (CONFIG_MAP.key, SERVICE.key, DEPLOYMENT.key)
    yield from (one.key for queue in overlay.granted_queues for one in queue.companions)
    yield from (one.key for device in overlay.accelerators.values() for one in device.profile.companions)
    yield from (key for starter in STARTERS for key in starter.permitted(overlay))
    if overlay.fields.tensorboard.ingress is not None:
        yield INGRESS.key


def _workloads(overlay: Overlay, rendered: set[str]) -> dict[tuple[str, str], Workload]:
    """Kinds of runs that the overlay's jobs have, or that it permits by `operators` or by a grant for searches."""
    operators = overlay.fields.operators
    around = {one.resource.key: one for starter in STARTERS for one in starter.health(overlay, rendered)}
    return around | {
        job.facts.key: Workload(
            api_version=job.facts.api_version(operators.get(kind, job.facts.served[0])), resource=job.facts
        )
        for kind, job in ALL_KINDS.items()
        if kind in operators or str(job.facts) in rendered
    }


def _manifests(overlay: Overlay, site: Site, found: Findings, *, whole: bool) -> Iterator[Manifest]:
    engines = overlay.fields.gitops.engines if overlay.fields.gitops else {}
    for key, engine in engines.items():
        place = overlay.place("gitops", key, key=True)
        bodies = (*(engine.objects(site) if whole else ()), *engine.objects_of_jobs(site))
        longest = max((body["metadata"]["name"] for body in bodies), key=len, default="")
        if len(longest) > MAX_NAME:  # engines use the names of their objects as label values
            hint = "shorten the name of the overlay"
            found.error(NAME_TOO_LONG, place, f"`{longest}` is longer than {MAX_NAME}", hint)
        for body in bodies:
            name = body["metadata"]["name"]
            yield Manifest(body=body, name=name, source=place, folder=key, tree="bundle", file=engine.file(body))


def _settings(overlay: Overlay, site: Site) -> Iterator[File]:
    """Merge patches of the settings of the engines."""
    engines = overlay.fields.gitops.engines if overlay.fields.gitops else {}
    for key, engine in engines.items():
        place = overlay.place("gitops", key, key=True)
        for one in engine.settings(site):
            identity = f"settings of {key} in ConfigMap {one.config_map}"
            yield emit_file(settings_file(key, overlay.name, one.config_map), {"data": dict(one.data)}, place, identity)


MAX_CHARACTERS: Final = 1 << 30
"""Characters of all files that a run renders."""
STAGED_JOBS: Final = 1000
"""Jobs to render from which the texts of new files leave memory: with fewer, nothing is created before all checks."""
_JOBS_PER_PROCESS = 48
"""Starting a process takes as long as rendering about this many jobs."""


def render(  # noqa: PLR0913 - the one face of the pipeline, with a name for each choice
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
    texts: Mapping[str, str] | None = None,
    staging: Staging | None = None,
) -> RunResult:
    """Render the jobs that match `patterns` for the named overlays; all jobs and all overlays if empty.

    `kubernetes` is a version to check against instead of the overlays' own; it does not change the output. Unchanged
    jobs are taken from the `cache`, without the text of their files. With `restart`, no committed run is kept. `ahead`
    reads job files already. `texts` are those of overlays, in place of their files. With `staging`, the
    results have no texts that `rendered/` has, and those of many new files are in the staging folder.
    """
    found = Findings()
    chosen = _overlays(root, overlays, kubernetes, texts or {}, found)
    chosen = with_valid_policies(chosen, found)
    jobs = chosen_jobs(root, patterns, found) if patterns else all_jobs(root, found)
    committed = None if restart else CommittedRuns.of(root)
    sources = (ahead() if ahead is not None else None) or {}
    inputs = Inputs(root=root, overlays=chosen, committed=committed, sources=sources, whole=not overlays)
    results = _results(inputs, jobs, parallel, cache, progress, staging)
    whole = not overlays and not patterns
    run, shared = combine(root, chosen, results, found, bundles=not patterns, whole=whole)
    if cache is not None:
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
        shared += render_bundles(overlays, rendered, shared, found, whole=bundles)
    for result in results:
        found.extend(result.findings)
    over_quota: tuple[OverQuota, ...] = ()
    with contained(found, Location(JOBS), "compare the jobs"):
        runs = committed or CommittedRuns.of(root)
        over_quota = crosscheck(root, results, rendered, shared, overlays, found, runs, complete=complete)
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
        summaries=summaries_of(rendered),
        requested=requested_by(rendered),
        over_quota=over_quota,
    )
    return run, shared


def _check_size(files: Iterable[File], found: Findings) -> None:
    """Report more text than a repository may have. Files from the cache were checked when they were rendered."""
    sizes: Counter[str] = Counter()
    for file in files:
        sizes[file.source.file] += len(file.text) if file.text is not None else file.characters
    if (total := sizes.total()) > MAX_CHARACTERS:
        (largest, size), *_ = sizes.most_common(1)
        what = f"the rendered files have {total} characters, {size} of them from this file"
        message = f"{what}; the maximum is {MAX_CHARACTERS}"
        hint = "use fewer runs, keep long texts in the image or on a volume, or split the repository"
        found.error(TOO_LARGE, Location(largest), message, hint)


def _overlays(
    root: Path, names: Collection[str], kubernetes: str | None, texts: Mapping[str, str], found: Findings
) -> list[Overlay]:
    reader = OverlayReader(root, found)
    for name, text in texts.items():
        reader.use(name, text)
    overlays = reader.read(names)
    return [replace(overlay, kubernetes=kubernetes) for overlay in overlays] if kubernetes is not None else overlays


def _results(
    inputs: Inputs,
    jobs: Sequence[JobFile],
    parallel: int,
    cache: Cache | None,
    progress: Progress | None,
    staging: Staging | None,
) -> list[JobResult]:
    """The result of each job file, in the order of `jobs`."""
    known = {job: result for job in jobs if (result := cache.result(job) if cache else None) is not None}
    changed = sorted((job for job in jobs if job not in known), key=partial(_kind, inputs.sources))
    if staging is not None and staging.writes and len(changed) >= STAGED_JOBS:
        staging.begin(inputs.root)
    work = partial(_rendered, inputs, staging)
    worth_it = _JOBS_PER_PROCESS
    fresh = map_parallel(work, changed, parallel, worth_it=worth_it, progress=progress, codec=JobResults())
    known.update((result.job, result) for result in fresh)
    return [known[job] for job in jobs]


def _rendered(
    inputs: Inputs, staging: Staging | None, jobs: Sequence[JobFile], done: Callable[[int], None]
) -> list[JobResult]:
    """The results of job files. The texts of a batch leave memory before those of the next one are rendered."""
    results: list[JobResult] = []
    for begin in range(0, len(jobs), AT_ONCE):
        batch = render_files(inputs, jobs[begin : begin + AT_ONCE], partial(_report, done, begin))
        results += settle(inputs.root, batch, staging) if staging is not None else batch
    return results


def _report(done: Callable[[int], None], before: int, count: int) -> None:
    done(before + count)


def _kind(sources: Mapping[str, Source], job: JobFile) -> str:
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
