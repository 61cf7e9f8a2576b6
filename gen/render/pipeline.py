"""One job file through all stages, and the storage of an overlay through the stages that it needs.

    load → model → expand → plan → build → patch → check → seal → emit

Each stage takes the result of the previous one and returns a type of its own. Every stage after `load` is a pure
function. `gen.render.run` renders all job files and `gen.render.write` writes the result.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gen.diagnostics import Findings, Location
from gen.findings.grants import OF_OVERLAY
from gen.findings.jobs import INVALID_LABEL, MISSING_FIELD, RESERVED_ENV, RESERVED_METADATA
from gen.load import read
from gen.overlay.select import CLUSTERS, clusters_of, selects
from gen.parallel import AT_ONCE, finished, together
from gen.render.build.search import experiment
from gen.render.build.stage import build_storage
from gen.render.checked import checked_objects, checked_run
from gen.render.deciding_field import Decided, field_of_route
from gen.render.emit import emit
from gen.render.expand import expand, merge_findings
from gen.render.manifest import Built, Patched, Valid
from gen.render.other_overlays import name_other_overlays
from gen.render.parse.job import job_name, parse_job, read_job
from gen.render.plan.lookups import Pins
from gen.render.plan.resource_quotas import plan_resource_quotas
from gen.render.plan.stage import make_plan
from gen.render.plan.storage import plan_storage
from gen.render.policies import apply_policies
from gen.render.record import SCHEDULE, SEARCH, run_record
from gen.render.results import JobInOverlay, JobResult, RenderedJob, RenderedOverlay
from gen.render.seal import seal, unsealed
from gen.render.sweep import settle
from gen.resources.demand import Demand
from gen.resources.graphs import created_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from gen.kinds.plan import Plan
    from gen.load import Source
    from gen.overlay.overlay import Overlay
    from gen.parallel import Steps
    from gen.render.committed.read import CommittedRuns
    from gen.render.expand import Expanded
    from gen.render.job_run import JobRun
    from gen.render.manifest import Manifest
    from gen.render.parse.job import JobInput
    from gen.repository.layout import JobFile

NONE_READ: Mapping[str, Source] = {}
"""No job files that were read already."""

_INDEPENDENT = frozenset(
    code.name for code in (*OF_OVERLAY, MISSING_FIELD, RESERVED_METADATA, RESERVED_ENV, INVALID_LABEL)
)
"""Findings of the plan that stay true if other, invalid fields of the job were left out."""


def render_file(
    root: Path,
    job: JobFile,
    overlays: Sequence[Overlay],
    committed: CommittedRuns | None = None,
    sources: Mapping[str, Source] = NONE_READ,
    *,
    whole: bool = True,
) -> Steps[JobResult]:
    """One job file in the overlays that select it, which are all if `whole`; `committed` has the runs to keep.

    `sources` are job files that were read already.
    """
    found = Findings()
    source = sources.get(job.file) or read(root, job.file, found)
    pins = Pins.of(root, job, found)
    yield
    data = source.data if source is not None else None
    selected = [overlay for overlay in overlays if selects(overlay, job.key, data)]
    if source is None:
        name, kind = job.stem, ""
        results = [JobInOverlay(overlay=overlay.name, names=(name,), rendered=()) for overlay in selected]
    else:
        name, kind = job_name(source)
        results, starts = [], []
        for overlay in selected:
            starts.append(len(found.items))
            results.append((yield from _render_job(source, job.namespace, overlay, found, committed, pins)))
        if len(selected) > 1 and found.failed():
            name_other_overlays(found, [overlay.name for overlay in selected], starts)
        if pins is not None and selected and whole:
            pins.report_unused(found)
        if not selected:
            parse_job(source, job.namespace, None, found)
    return JobResult(
        job=job,
        digest=source.digest if source is not None else "",
        name=name,
        kind=kind,
        overlays=tuple(results),
        findings=tuple(found),
        lock=pins.lock.digest if pins is not None else "",
        clusters=_clusters(source),
    )


def _clusters(source: Source | None) -> tuple[tuple[str, Location], ...]:
    """The entries of `clusters` of a job, with the places."""
    if source is None:
        return ()
    return tuple((name, source.place((CLUSTERS, index))) for index, name in enumerate(clusters_of(source.data)))


def render_job(
    source: Source, namespace: str, overlay: Overlay, found: Findings, committed: CommittedRuns | None = None
) -> JobInOverlay:
    """A job in one overlay, without its pins."""
    return finished(_render_job(source, namespace, overlay, found, committed, None))


def _render_job(
    source: Source,
    namespace: str,
    overlay: Overlay,
    found: Findings,
    committed: CommittedRuns | None,
    pins: Pins | None,
) -> Steps[JobInOverlay]:
    """All runs of a job in one overlay; none of them if the job has an error.

    A run in `committed` is kept if its job did not change. Without them, every run is rendered from the job. Without
    `pins`, images and code need none.
    """
    own = Findings()
    written = read_job(source, namespace, overlay, own)
    runs = expand(written, overlay, own) if written is not None else ()
    alone = len(runs) >= AT_ONCE  # more jobs beside these runs would only take memory
    if not alone:
        yield
    plans = settle(runs, [plan_run(run, overlay, pins) for run in runs], own)
    if pins is not None and any(findings.failed() for findings in (own, *(run.found for run in runs))):
        pins.complete = False
    if not alone:
        yield
    rendered: list[RenderedJob | None] = []
    if not any(findings.failed() for findings in (own, *(run.found for run in runs))):
        pairs = zip(runs, plans, strict=True)
        steps = together(_render_run(*pair, overlay, committed) for pair in pairs)
        rendered = finished(steps) if alone else (yield from steps)
    found.extend((*own.items, *merge_findings((run.found.items for run in runs), [run.label for run in runs])))
    return JobInOverlay(
        overlay=overlay.name,
        names=tuple(run.name for run in runs) or job_name(source)[:1],
        rendered=tuple(job for job in rendered if job is not None),
    )


def plan_run(one: Expanded, overlay: Overlay, pins: Pins | None) -> Plan | None:
    """The plan of a run, without findings that may result from fields that were left out."""
    if one.run is None:
        return None
    plan = _plan(one.run, overlay, one.found, pins)
    if not one.run.given.job.own_fields:
        return plan
    from gen.render.plan.steps import plan_steps  # noqa: PLC0415 - most jobs have no steps
    from gen.render.steps.findings import collect  # noqa: PLC0415 - as above

    steps: list[Plan | None] = [None for _ in one.steps]
    if plan is not None:  # without a grant for the namespace, each step would report it again
        steps = [_plan(step.run, overlay, step.found, pins) if step.run is not None else None for step in one.steps]
    plan = plan_steps(one, plan, steps, overlay, pins)
    collect(one.found, one.run, one.steps)
    return plan


def _plan(run: JobRun, overlay: Overlay, found: Findings, pins: Pins | None) -> Plan | None:
    own = Findings()
    plan = make_plan(run, overlay, own, pins)
    found.extend(finding for finding in own if run.given.complete or finding.code in _INDEPENDENT)
    return plan


def _render_run(
    one: Expanded, plan: Plan | None, overlay: Overlay, committed: CommittedRuns | None
) -> Steps[RenderedJob | None]:
    run, found = one.run, one.found
    if run is None or plan is None:
        return None
    given = run.given
    checked = yield from checked_run(run, plan, overlay, found)
    if checked is not None and plan.steps:
        from gen.render.steps.objects import with_steps  # noqa: PLC0415 - most jobs have none

        checked = with_steps(checked, one, plan, overlay)
    if checked is None:
        return None
    patched, valid = checked
    if not plan.steps:  # those about steps are placed in the steps
        apply_policies(patched, overlay, found, partial(field_of_route, given))
    if plan.search is not None or plan.in_workflow:
        around = _around(valid, plan, overlay, found, given)
        if around is None:
            return None
        outer, valid = around
        apply_policies(outer, overlay, found, partial(field_of_route, given))
        patched = replace(
            patched, matched=patched.matched | outer.matched, deletions=patched.deletions | outer.deletions
        )
    if found.failed():
        return None
    yield
    sealed = seal(valid, plan.attempt)
    asked = plan.demand if plan.counts else Demand()
    record = run_record(run.name, run.given.source.data, overlay.fields.runs.restarted_for, run.given.own, plan.pins)
    rendered = RenderedJob(
        overlay=overlay.name,
        namespace=plan.namespace,
        name=plan.name,
        files=tuple(emit(sealed, overlay.name, str(record))),
        matched=patched.matched,
        deletions=patched.deletions,
        volumes=plan.storage,
        gpus=asked.gpus,
        accelerators=dict(asked.accelerators),
        pods=asked.pods + (plan.tensorboard is not None),
        steps=created_by(one.body for one in sealed.manifests if one.is_workload) if plan.steps else (),
        kinds=tuple(dict.fromkeys(manifest.group_kind for manifest in valid.manifests)),
    )
    kept = plan.schedule is None and plan.definition is None  # nothing runs again if they change
    old = committed.behind(rendered, record, plan.state, found) if committed is not None and kept else None
    if old is None:
        return rendered
    from gen.render.committed.keep import keep  # noqa: PLC0415 - most renders keep no run

    return keep(old, rendered, valid, run.given.job, plan, overlay, found)


def _around(
    valid: Valid, plan: Plan, overlay: Overlay, found: Findings, given: JobInput
) -> tuple[Patched, Valid] | None:
    """The search or the schedule around the run, with its patches, and all objects with it; None after an error."""
    (workload,) = (manifest for manifest in valid.manifests if manifest.is_workload and not manifest.embedded)
    built, *inner = _outer(workload, plan, given)
    field = SEARCH if plan.search is not None else SCHEDULE
    decided = Decided(given.place(field))
    checked = finished(checked_objects(Built((built,)), overlay, found, lambda _: decided, proven=False))
    if checked is None:
        return None
    patched, (around,) = checked[0], checked[1].manifests
    others = (manifest for manifest in valid.manifests if manifest is not workload)
    return patched, Valid((around, *inner, *others))


def _outer(workload: Manifest, plan: Plan, given: JobInput) -> tuple[Manifest, ...]:
    """The object in Git, and the run if it is a part of that as a text."""
    if plan.search is not None:
        return (experiment(workload, plan, plan.search),)
    assert plan.schedule is not None  # noqa: S101 - one of the two
    from gen.render.build.cron_workflow import cron_workflow  # noqa: PLC0415 - few jobs have one

    return cron_workflow(workload, plan, plan.schedule, given.job.facts)


def render_storage(overlay: Overlay, uses: Iterable[tuple[str, str]], found: Findings) -> RenderedOverlay | None:
    """The storage of an overlay for pairs of a namespace and a volume, with the ResourceQuotas of its namespaces.

    None if it has an error.
    """
    built = build_storage(plan_storage(overlay, uses), plan_resource_quotas(overlay))
    checked = finished(checked_objects(built, overlay, found, lambda _: None))
    if checked is None:
        return None
    patched, valid = checked
    apply_policies(patched, overlay, found, lambda _: None)
    if found.failed():
        return None
    files = tuple(emit(unsealed(valid), overlay.name))
    return RenderedOverlay(overlay=overlay.name, files=files, matched=patched.matched, deletions=patched.deletions)
