"""The way of job files through the stages of a render.

    load → model → expand → plan → build → patch → check → start → seal → emit → keep

`STAGES` is the list in code, and `gen.render.stages` has each stage. They run over batches of jobs: a stage that runs
again for another job finds its code and data in the caches of the processor, which saves a fifth of the time.
`gen.render.run` renders all job files of a repository, and `gen.render.write` writes the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any, Final

from msgspec.structs import replace

from gen.base import Findings, Location, internal_error, with_other
from gen.base.codes.grants import OF_OVERLAY, UNKNOWN_ACCELERATOR
from gen.base.codes.jobs import MISSING_FIELD
from gen.base.engines import RECORDS
from gen.base.repository.layout import JobFile
from gen.base.yaml.source import Source
from gen.overlay.overlay import CLUSTERS, Overlay, clusters_of
from gen.render.build import build_storage
from gen.render.check import apply_policies, checked_objects
from gen.render.committed import CommittedRuns
from gen.render.emit import emit as files_of
from gen.render.expand import merge_findings
from gen.render.model import job_name, job_stem, parse_job
from gen.render.parts.data import plan_storage
from gen.render.parts.quota import plan_resource_quotas
from gen.render.results import JobInOverlay, JobResult, RenderedOverlay, SealedObjects
from gen.render.stages import build, check, emit, expand, keep, load, model, patch, plan, seal, start
from gen.render.work import EndedRun, Inputs, LoadedFile, LoadedJob, RequestedFile, Work

Stage = Callable[[Any], tuple[Work, ...]]
"""Each takes the result of the previous one; a test compares them."""


STAGES: Final[tuple[Stage, ...]] = (
    load,  #   a job file: its text with the place of every value, for each overlay that selects it
    model,  #  the model of its kind, the defaults of the overlay, the values of each run
    expand,  # the runs of a job, every field validated
    plan,  #   all decisions: names, sizes, mounts, grants; from here, each run is an item
    build,  #  the plan as Kubernetes objects
    patch,  #  the patches of the overlay
    check,  #  schemas, rules and policies
    start,  #  the object that starts the run, if it is another one
    seal,  #   the hash of the run
    emit,  #   the text of each object
    keep,  #   the committed run instead, if only the platform changed
)
AT_ONCE: Final = 32
"""Runs in a batch. Their results stay in the caches of the processor, and in memory."""
_LACKING: Final = frozenset(code.name for code in (*OF_OVERLAY, UNKNOWN_ACCELERATOR, MISSING_FIELD))
"""Findings about what one overlay lacks."""
_MOST: Final = 5
"""Overlays in a hint."""


def advance(
    batch: Sequence[Work], stages: Sequence[Stage] = STAGES, done: Callable[[EndedRun], None] = lambda _: None
) -> list[EndedRun]:
    """Pass a batch through stages. If it grows, as by the runs of a sweep, parts of it take the other stages in turn.

    `done` gets the last item of each part that has ended.
    """
    for number, stage in enumerate(stages, start=1):
        batch = _passed(batch, stage)
        parts = _parts(batch)
        if len(parts) > 1:
            return [end for part in parts for end in advance(part, stages[number:], done)]
    ended = [item for item in batch if isinstance(item, EndedRun)]
    if ended:
        done(ended[-1])
    return ended


def _passed(batch: Sequence[Work], stage: Stage) -> list[Work]:
    """Results of a stage. An exception about an item ends it with a finding."""
    results: list[Work] = []
    for item in batch:
        if isinstance(item, EndedRun):
            results.append(item)
            continue
        try:
            results += stage(item)
        except Exception as error:  # noqa: BLE001 - see `gen.base.findings`
            results += _failed(item, stage, error)
    return results


def _failed(item: Work, stage: Stage, error: Exception) -> tuple[EndedRun, ...]:
    """The ends of an item that a stage could not process, with a finding about it."""
    ends = item.end()
    file = ends[0].file
    finding = internal_error(error, Location(file.job.file), f"{stage.__name__} the job")
    for end in ends:
        end.found.items.append(finding)
    if file.pins is not None:
        file.pins.complete = False
    return ends


def _parts(batch: Sequence[Work]) -> list[list[Work]]:
    """Parts with at most `AT_ONCE` runs, or with one item that has more."""
    parts: list[list[Work]] = [[]]
    size = 0
    for item in batch:
        if size + item.size > AT_ONCE and size:
            parts.append([])
            size = 0
        parts[-1].append(item)
        size += item.size
    return parts


def render_files(
    inputs: Inputs, jobs: Sequence[JobFile], done: Callable[[int], None] = lambda _: None
) -> list[JobResult]:
    """The result of each job file in the overlays that select it. `done` hears how many have one."""
    order = {job: number for number, job in enumerate(jobs)}
    results: list[JobResult] = []
    for begin in range(0, len(jobs), AT_ONCE):
        batch = [RequestedFile(job=job, inputs=inputs) for job in jobs[begin : begin + AT_ONCE]]
        ended = advance(batch, done=lambda last: done(order[last.file.job]))  # which may have more runs
        results += [_contained_result(list(of_file)) for _, of_file in groupby(ended, key=lambda one: id(one.file))]
        done(len(results))
    return results


def render_job(
    source: Source, namespace: str, overlay: Overlay, found: Findings, committed: CommittedRuns | None = None
) -> JobInOverlay:
    """All runs of a job in one overlay, without its pins; none of them if the job has an error."""
    job = JobFile(namespace, job_stem(source))
    file = LoadedFile(job=job, source=source, overlays=(overlay,))
    loaded = LoadedJob(file=file, source=source, overlay=overlay, committed=committed)
    return _job_result(advance([loaded], STAGES[1:]), found)


def _contained_result(ended: Sequence[EndedRun]) -> JobResult:
    """The result of a file; after an exception, one with a finding about it."""
    try:
        return _file_result(ended)
    except Exception as error:  # noqa: BLE001 - see `gen.base.findings`
        old = ended[0].file
        found = Findings([internal_error(error, Location(old.job.file), "collect the runs of the job")])
        return _file_result([EndedRun(file=LoadedFile(job=old.job, source=None, overlays=old.overlays, found=found))])


def _file_result(ended: Sequence[EndedRun]) -> JobResult:
    """The result of a file in all overlays, from the ends of all its runs."""
    file = ended[0].file
    job, source, found = file.job, file.source, file.found
    names = [overlay.name for overlay in file.overlays]
    if source is None:
        name, kind = job.stem, ""
        results = [JobInOverlay(overlay=overlay, names=(name,), rendered=()) for overlay in names]
    else:
        name, kind = job_name(source)
        results, starts = [], []
        for _, runs in groupby((end for end in ended if end.job is not None), key=lambda end: id(end.job)):
            starts.append(len(found.items))
            results.append(_job_result(list(runs), found))
        if len(names) > 1 and found.failed():
            name_other_overlays(found, names, starts)
        if file.pins is not None and names and file.whole:
            file.pins.report_unused(found)
        if not names:
            parse_job(source, job.namespace, found)
    return JobResult(
        job=job,
        digest=source.digest if source is not None else "",
        name=name,
        kind=kind,
        overlays=tuple(results),
        findings=tuple(found),
        lock=file.pins.lock.digest if file.pins is not None else "",
        clusters=clusters_with_places(source),
        record=source is not None and isinstance(source.data, dict) and source.data.get("state") in RECORDS,
    )


def name_other_overlays(found: Findings, names: Sequence[str], starts: Sequence[int]) -> None:
    """Add the overlays without errors to the hints of the others. `starts` has the first finding of each."""
    ends = (*starts[1:], len(found.items))
    parts = {name: range(start, end) for name, start, end in zip(names, starts, ends, strict=True)}
    failed = {name for name, part in parts.items() if any(found.items[index].is_error for index in part)}
    others = [name for name in names if name not in failed]
    if not failed or not 0 < len(others) <= _MOST:
        return
    for index in (index for name in failed for index in parts[name]):
        item = found.items[index]
        if item.is_error and item.code in _LACKING:
            hint = with_other(item.hint, f"or render the job only elsewhere: `{CLUSTERS}: [{', '.join(others)}]`")
            found.items[index] = replace(item, hint=hint)


def _job_result(runs: Sequence[EndedRun], found: Findings) -> JobInOverlay:
    """The result of a job in one overlay, with the findings of its runs."""
    job = runs[0].job
    assert job is not None  # only files that no overlay selects have none
    labels = [run.label for run in runs]
    found.extend((*job.found.items, *merge_findings((run.found.items for run in runs), labels)))
    return JobInOverlay(
        overlay=job.overlay.name,
        names=tuple(run.name for run in runs if run.name) or job_name(job.source)[:1],
        rendered=tuple(run.rendered for run in runs if run.rendered is not None),
    )


def clusters_with_places(source: Source | None) -> tuple[tuple[str, Location], ...]:
    """The entries of `clusters` of a job, with the places."""
    if source is None:
        return ()
    return tuple((name, source.place((CLUSTERS, index))) for index, name in enumerate(clusters_of(source.data)))


def render_storage(overlay: Overlay, uses: Iterable[tuple[str, str]], found: Findings) -> RenderedOverlay | None:
    """The storage of an overlay for pairs of a namespace and a volume, with the ResourceQuotas of its namespaces.

    None if it has an error.
    """
    built = build_storage(plan_storage(overlay, uses), plan_resource_quotas(overlay))
    checked = checked_objects(built, overlay, found, lambda _: None)
    if checked is None:
        return None
    patched, valid = checked
    apply_policies(patched, overlay, found, lambda _: None)
    if found.failed():
        return None
    files = tuple(files_of(SealedObjects(valid.manifests), overlay.name))
    return RenderedOverlay(overlay=overlay.name, files=files, matched=patched.matched, deletions=patched.deletions)
