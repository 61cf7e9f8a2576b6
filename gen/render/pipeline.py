"""The whole run: one job through the stages, and all jobs of a repository.

    load → model → plan → build → patch → validate → seal → emit → write

Each stage takes what the one before it made and hands over a type of its own. Between `load` and `write` everything
is a function of its arguments. Findings are collected on the way, and nothing is written when one is an error.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from gen.diagnostics import Findings
from gen.load import read
from gen.overlay.read import OverlayReader
from gen.overlay.select import selects
from gen.parallel import spread
from gen.render.build.stage import build, build_storage
from gen.render.bundle import render_bundles
from gen.render.crosscheck import crosscheck
from gen.render.deciding_field import deciding_field
from gen.render.emit import emit
from gen.render.parse.job import job_name, parse_job
from gen.render.patch.apply import apply_patches
from gen.render.plan.stage import make_plan
from gen.render.plan.storage import plan_storage
from gen.render.results import Outcome, Reading, Rendering
from gen.render.seal import seal, unsealed
from gen.render.validate import validate
from gen.repository.job_files import all_jobs, chosen_jobs
from gen.repository.layout import job_folder

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from gen.load import Source
    from gen.overlay.overlay import Overlay
    from gen.render.cache import Cache
    from gen.repository.layout import JobFile

_WORTH_IT = 48
"""Jobs for each process."""

_STAYS_TRUE = frozenset(
    {"unknown-volume", "unknown-network", "unknown-queue", "unknown-priority", "unknown-service-account"}
    | {"unknown-namespace", "not-granted", "missing-field", "reserved-metadata", "reserved-env", "invalid-label"}
)
"""Findings about something that is there: they hold even when other fields of the job had to be left out."""


def render_job(source: Source, namespace: str, overlay: Overlay, found: Findings) -> Outcome | None:
    """One job in one overlay. `found` is the job's own; None when it has an error."""
    job = parse_job(source, namespace, overlay, found)
    if job is None:
        return None
    planned = Findings()
    plan = make_plan(job, overlay, planned)
    found.extend(item for item in planned if job.complete or item.code in _STAYS_TRUE)
    if plan is None or found.failed():
        return None
    built = build(job.job, plan)
    patched = apply_patches(built, overlay, found)
    if found.failed():
        return None
    valid = validate(patched, overlay.kinds, found, partial(deciding_field, job))
    if valid is None:
        return None
    gpus = plan.gpus if plan.state == "active" else 0
    files = tuple(emit(seal(valid, plan.attempt), overlay.name))
    return Outcome(overlay.name, namespace, plan.name, files, patched.matched, plan.storage, gpus)


def render_storage(overlay: Overlay, uses: Iterable[tuple[str, str]], found: Findings) -> Outcome | None:
    """The storage of an overlay behind pairs of a namespace and a volume, through the same stages."""
    patched = apply_patches(build_storage(plan_storage(overlay, uses)), overlay, found)
    valid = None if found.failed() else validate(patched, overlay.kinds, found)
    if valid is None:
        return None
    return Outcome(overlay.name, "", "", tuple(emit(unsealed(valid), overlay.name)), patched.matched)


def render_file(root: Path, job: JobFile, overlays: Sequence[Overlay]) -> Reading:
    """One job file in every overlay that selects it."""
    found = Findings()
    source = read(root, job.file, found)
    selected = [overlay for overlay in overlays if selects(overlay, job.key)]
    if source is None:
        return Reading(job, "", job.stem, "", tuple(o.name for o in selected), (), tuple(found))
    outcomes = []
    for overlay in selected:
        own = Findings()
        outcome = render_job(source, job.namespace, overlay, own)
        found.extend(own.items)
        if outcome is not None:
            outcomes.append(outcome)
    if not selected:
        parse_job(source, job.namespace, None, found)
    name, kind = job_name(source)
    names = tuple(overlay.name for overlay in selected)
    return Reading(job, source.digest, name, kind, names, tuple(outcomes), tuple(found))


def render(
    root: Path,
    overlays: Collection[str],
    patterns: Sequence[str],
    parallel: int = 1,
    kubernetes: str | None = None,
    cache: Cache | None = None,
) -> Rendering:
    """Render the jobs that `patterns` name, or all, for the overlays that are named, or all.

    `kubernetes` is a version to check against instead of the overlays' own; it changes no output. With a `cache`, jobs
    that did not change are taken from it, without their texts.
    """
    found = Findings()
    chosen = OverlayReader(root, found).read(overlays)
    if kubernetes is not None:
        chosen = [replace(overlay, kubernetes=kubernetes) for overlay in chosen]
    jobs = chosen_jobs(root, patterns, found) if patterns else all_jobs(root, found)
    whole = not overlays and not patterns
    judge = whole and not found.failed()  # a job may belong to an overlay that cannot be read
    known = {job: reading for job in jobs if cache is not None and (reading := cache.reading(job)) is not None}
    work = partial(render_file, root, overlays=chosen)
    fresh = spread(work, [job for job in jobs if job not in known], parallel, worth_it=_WORTH_IT)
    known.update((reading.job, reading) for reading in fresh)
    readings = [known[job] for job in jobs]
    storage = _storage(readings, chosen, found)
    if not patterns:
        storage += render_bundles(chosen, [*(o for reading in readings for o in reading.outcomes), *storage], found)
    for reading in readings:
        found.extend(reading.findings)
    crosscheck(root, readings, storage, chosen, found, whole=judge)
    outcomes = [*(outcome for reading in readings for outcome in reading.outcomes), *storage]
    rendering = Rendering(
        files={file.path: file for outcome in outcomes for file in outcome.files},
        overlays=tuple(overlay.name for overlay in chosen),
        jobs=len(jobs),
        whole=whole,
        findings=found,
        folders=frozenset(job_folder(o.overlay, o.namespace, o.name) for o in outcomes if o.name),
    )
    if cache is not None and not found.failed():
        cache.save(readings, storage, rendering)
    return rendering


def _storage(readings: Sequence[Reading], overlays: Sequence[Overlay], found: Findings) -> list[Outcome]:
    storage = []
    for overlay in overlays:
        outcomes = (o for reading in readings for o in reading.outcomes if o.overlay == overlay.name)
        own = Findings()
        rendered = render_storage(overlay, ((o.namespace, name) for o in outcomes for name in o.storage), own)
        found.extend(own.items)
        storage += [rendered] if rendered is not None else []
    return storage
