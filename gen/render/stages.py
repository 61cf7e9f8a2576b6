"""The stages of a render, in the order of `STAGES` in `gen.render.pipeline`, which passes the jobs through them.

Each takes the result of the previous one and returns a type of its own (`gen.render.work`).

A stage returns several items for a job with several overlays or runs, and an `EndedRun` after an error. Only `load` and
`keep` read files.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from msgspec.structs import replace

from gen.base import DefinitionError, Findings
from gen.base.codes.grants import OF_OVERLAY
from gen.base.codes.jobs import (
    INVALID_LABEL,
    INVALID_SCHEDULE,
    MISSING_FIELD,
    MOUNT_CONFLICT,
    RESERVED_ENV,
    RESERVED_METADATA,
)
from gen.base.yaml.source import read
from gen.job.plan import Edit, Plan
from gen.job.suggest import with_old_names
from gen.kubernetes.facts.demand import Demand
from gen.kubernetes.facts.graphs import created_by
from gen.overlay.overlay import Overlay, report_invalid_definition, selects
from gen.pins.lock import Pins
from gen.render import build as objects
from gen.render import expand as runs_of_jobs
from gen.render import seal as hashes
from gen.render import work
from gen.render.check import (
    DecidingField,
    apply_policies,
    check_manifests,
    checked_objects,
    deciding_field,
    field_of_route,
)
from gen.render.emit import emit as files_of
from gen.render.emit import run_record
from gen.render.job_run import ExpandedRun, JobInput, JobRun
from gen.render.model import models_of, read_job
from gen.render.patch import apply_patches
from gen.render.permissions import judge
from gen.render.plan import make_plan
from gen.render.results import BuiltObjects, PatchedObjects, RenderedJob, ValidObjects
from gen.render.starters import requested, starter_in, summary
from gen.render.sweep import settle

_INDEPENDENT: Mapping[str, frozenset[str]] = {
    **{code.name: frozenset() for code in (*OF_OVERLAY, MISSING_FIELD, RESERVED_METADATA, RESERVED_ENV)},
    **{code.name: frozenset() for code in (INVALID_LABEL, INVALID_SCHEDULE)},
    MOUNT_CONFLICT.name: frozenset({"code", "data", "inputs", "outputs", "logs", "checkpoints", "roles", "workingDir"}),
}
"""Findings of the plan that stay true if other, invalid fields of the job were left out; with those that they need."""


def load(request: work.RequestedFile) -> tuple[work.LoadedJob, ...] | tuple[work.EndedRun, ...]:
    """Read a job file: one item for each overlay that selects it."""
    job, inputs = request.job, request.inputs
    found = Findings()
    source = inputs.sources.get(job.file) or read(inputs.root, job.file, found)
    pins = Pins.of(inputs.root, job, found)
    data = source.data if source is not None else None
    selected = tuple(overlay for overlay in inputs.overlays if selects(overlay, job.key, data))
    file = work.LoadedFile(job=job, source=source, overlays=selected, pins=pins, whole=inputs.whole, found=found)
    if source is None or not selected:
        return (work.EndedRun(file=file),)
    return tuple(
        work.LoadedJob(file=file, source=source, overlay=overlay, committed=inputs.committed) for overlay in selected
    )


def model(job: work.LoadedJob) -> tuple[work.ModelledJob | work.EndedRun]:
    """The model of the job's kind, the defaults of the overlay, and the values of each run."""
    written = read_job(job.source, job.file.job.namespace, job.overlay, job.found)
    if written is None:
        return (work.EndedRun(file=job.file, job=job),)
    values = runs_of_jobs.run_values(written, job.overlay, job.found)
    if not runs_of_jobs.is_within_limits(written, len(values), job.found):
        return (work.EndedRun(file=job.file, job=job),)
    return (work.ModelledJob(job=job, written=written, values=values),)


def expand(job: work.ModelledJob) -> tuple[work.ExpandedJob]:
    """Each run of a job, with its expressions replaced and every field validated."""
    return (work.ExpandedJob(job=job.job, runs=runs_of_jobs.expand(job.written, job.values)),)


def plan(job: work.ExpandedJob) -> tuple[work.PlannedRun | work.EndedRun, ...]:
    """The decisions about each run; none of the runs is rendered if one has an error."""
    own, runs = job.job, job.runs
    pins = own.file.pins
    plans = settle(runs, [plan_run(run, own.overlay, pins) for run in runs], own.found)
    failed = any(findings.failed() for findings in (own.found, *(run.found for run in runs)))
    if failed and pins is not None:
        pins.complete = False
    return tuple(
        work.ended(own, run) if failed or made is None or run.run is None else _planned(own, run, run.run, made)
        for run, made in zip(runs, plans, strict=True)
    )


def plan_run(one: ExpandedRun, overlay: Overlay, pins: Pins | None) -> Plan | None:
    """The plan of a run, without findings that may result from fields that were left out."""
    if one.run is None:
        return None
    made = _plan(one.run, overlay, one.found, pins)
    if not one.run.given.job.own_fields:
        return made
    from gen.render.parts.steps import collect, plan_steps

    steps: list[Plan | None] = [None for _ in one.steps]
    if made is not None:  # without a grant for the namespace, each step would report it again
        steps = [_plan(step.run, overlay, step.found, pins) if step.run is not None else None for step in one.steps]
    made = plan_steps(one, made, steps, overlay, pins)
    collect(one.found, one.run, one.steps)
    return made


def _plan(run: JobRun, overlay: Overlay, found: Findings, pins: Pins | None) -> Plan | None:
    own = Findings()
    made = make_plan(run, overlay, own, pins)
    found.extend(finding for finding in own if _stays_true(finding.code, run.given.left_out))
    return made


def _stays_true(code: str, left_out: frozenset[str]) -> bool:
    return not left_out or (code in _INDEPENDENT and left_out.isdisjoint(_INDEPENDENT[code]))


def _planned(job: work.LoadedJob, one: ExpandedRun, run: JobRun, made: Plan) -> work.PlannedRun:
    parts = [work.PlannedPart(run=run, plan=made, found=one.found)]
    if made.steps:
        steps = zip(one.steps, made.steps, strict=True)
        parts += [
            work.PlannedPart(run=step.run, plan=own.plan, found=step.found)
            for step, own in steps
            if step.run is not None
        ]
    return work.PlannedRun(job=job, one=one, parts=tuple(parts))


def build(run: work.PlannedRun) -> tuple[work.BuiltRun]:
    """The plan as Kubernetes objects."""
    built = tuple(objects.build(part.run.given.job, part.plan) for part in run.parts)
    return (work.BuiltRun(planned=run, built=built),)


def patch(run: work.BuiltRun) -> tuple[work.PatchedRun]:
    """The objects with the patches of the overlay, and which line set each value."""
    planned = run.planned
    patched = tuple(
        _patched(built, planned.job.overlay, part.found) for part, built in zip(planned.parts, run.built, strict=True)
    )
    return (work.PatchedRun(planned=planned, patched=patched),)


def _patched(built: BuiltObjects, overlay: Overlay, found: Findings) -> PatchedObjects | None:
    try:
        patched = apply_patches(built, overlay, found)
    except DefinitionError as error:
        report_invalid_definition(error, overlay, found)
        return None
    return None if found.failed() else patched


def check(run: work.PatchedRun) -> tuple[work.ValidRun | work.EndedRun]:
    """Schemas, rules, grants and policies, for each object with eight zeros as the hash of the run."""
    planned, overlay = run.planned, run.planned.job.overlay
    checked = [
        (patched, valid) if patched is not None and (valid := _valid(part, patched, overlay)) is not None else None
        for part, patched in zip(planned.parts, run.patched, strict=True)
    ]
    first = checked[0]
    if planned.plan.steps and first is not None:
        from gen.render.parts.steps import with_steps

        first = with_steps(planned, checked)
    elif first is not None:  # policies about steps are placed in the steps
        (part,) = planned.parts
        apply_policies(first[0], overlay, part.found, partial(field_of_route, part.run.given))
    if first is None:
        return (work.ended(planned.job, planned.one),)
    return (work.ValidRun(planned=planned, patched=first[0], valid=first[1]),)


def _valid(part: work.PlannedPart, patched: PatchedObjects, overlay: Overlay) -> ValidObjects | None:
    given = part.run.given
    judge(patched, overlay, part.plan.namespace, part.found)
    try:
        return check_manifests(
            patched, overlay.kinds, part.found, partial(deciding_field, given), proven=given.job.proven
        )
    except DefinitionError as error:
        report_invalid_definition(error, overlay, part.found)
        return None


def start(run: work.ValidRun) -> tuple[work.StartedRun | work.EndedRun]:
    """The run in the object that starts it; most runs are the object in Git themselves."""
    planned, started = run.planned, (run.patched, run.valid)
    if planned.plan.starter.inner:
        part = planned.parts[0]
        outer = _around(run.patched, run.valid, part.plan, planned.job.overlay, part.found, part.run.given)
        if outer is None:
            return (work.ended(planned.job, planned.one),)
        started = outer
    if planned.one.found.failed():
        return (work.ended(planned.job, planned.one),)
    return (work.StartedRun(planned=planned, patched=started[0], valid=started[1]),)


def seal(run: work.StartedRun) -> tuple[work.SealedRun]:
    """The hash of the run in place of its placeholder."""
    sealed = hashes.seal(run.valid, run.planned.plan.attempt)
    return (work.SealedRun(planned=run.planned, started=run, sealed=sealed),)


def emit(run: work.SealedRun) -> tuple[work.EmittedRun]:
    """The objects as YAML, and the record of the job in the first line."""
    planned, started, sealed = run.planned, run.started, run.sealed
    own, overlay, (first, *_) = planned.plan, planned.job.overlay, planned.parts
    given = first.run.given
    (workload,) = (one.body for one in sealed.manifests if one.is_workload and not one.embedded)
    asked = requested(workload, overlay) if own.counts else Demand()
    restarted_for, decisive = overlay.fields.runs.restarted_for, own.starter.decisive
    written = with_old_names(given.source.data, models_of(own.kind, given.source.data))
    record = run_record(first.run.name, written, restarted_for, given.own, own.pins, decisive)
    rendered = RenderedJob(
        overlay=overlay.name,
        namespace=own.namespace,
        name=own.name,
        files=tuple(files_of(sealed, overlay.name, str(record), stopped=own.state == "stopped")),
        matched=started.patched.matched,
        deletions=started.patched.deletions,
        volumes=own.storage,
        gpus=asked.gpus,
        accelerators=dict(asked.accelerators),
        pods=asked.pods + (own.tensorboard is not None),
        resumes=own.resumes,
        summary=summary(workload, asked, sealed.digest) if own.counts else None,
        steps=created_by(one.body for one in sealed.manifests if one.is_workload) if own.steps else (),
        kinds=tuple(dict.fromkeys(manifest.group_kind for manifest in started.valid.manifests)),
    )
    return (work.EmittedRun(planned=planned, started=started, rendered=rendered, record=record),)


def keep(run: work.EmittedRun) -> tuple[work.EndedRun]:
    """The committed run in place of the new one, if the job did not change but the platform did."""
    planned, rendered = run.planned, run.rendered
    own, committed, found = planned.plan, planned.job.committed, planned.one.found
    old = None
    if committed is not None and own.starter.edit is Edit.NEW_RUN:  # nothing runs again after other edits
        old = committed.behind(rendered, run.record, own.state, found)
    if old is not None:
        from gen.render.keep import keep as keep_run

        job, overlay = planned.parts[0].run.given.job, planned.job.overlay
        rendered = keep_run(old, rendered, run.started.valid, job, own, overlay, found)
    return (work.ended(planned.job, planned.one, rendered),)


def _around(
    patched: PatchedObjects, valid: ValidObjects, plan: Plan, overlay: Overlay, found: Findings, given: JobInput
) -> tuple[PatchedObjects, ValidObjects] | None:
    """The object that starts the run around it, and all objects with it; None after an error."""
    starter = starter_in(plan)
    (workload,) = (manifest for manifest in valid.manifests if manifest.is_workload and not manifest.embedded)
    built, *inner = starter.around(workload, plan, given.job.facts)
    decided = DecidingField(given.place(starter.field))
    checked = checked_objects(BuiltObjects((built,)), overlay, found, lambda _: decided, proven=False)
    if checked is None:
        return None
    outer, (one,) = checked[0], checked[1].manifests
    judge(outer, overlay, plan.namespace, found)
    apply_policies(outer, overlay, found, partial(field_of_route, given))
    others = (manifest for manifest in valid.manifests if manifest is not workload)
    both = replace(patched, matched=patched.matched | outer.matched, deletions=patched.deletions | outer.deletions)
    return both, ValidObjects((one, *inner, *others))
