"""Keep a committed run: its content as it was committed, with the metadata and the suspension that the job sets now.

Permissions that the overlay does not grant any more are a warning about a run that goes on, and an error about one that
was suspended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from gen.base import Findings, Location, Severity, at, dotted, with_field
from gen.base.codes.jobs import SUSPENDED_IN_QUEUE
from gen.base.codes.rendered import KEPT_RUN_INVALID, KEPT_RUN_NOT_GRANTED
from gen.base.engines import name_in_cluster
from gen.base.placeholders import RUN, TRIAL
from gen.job.kinds.base import Job
from gen.job.plan import Plan, QueuePlan
from gen.kubernetes.facts import held_object, queue_labels, resource_of_object
from gen.kubernetes.facts.demand import Demand
from gen.kubernetes.facts.graphs import created_by
from gen.kubernetes.facts.pods import templates_by_shape
from gen.kubernetes.facts.state import is_suspended
from gen.kubernetes.objects import QUEUE_LABEL, Body, identity_of
from gen.overlay.overlay import Overlay
from gen.overlay.profiles.queues import QUEUES
from gen.render.build import build
from gen.render.committed import CommittedObject, CommittedRun
from gen.render.emit import emit
from gen.render.parts.metadata import run_metadata
from gen.render.patch import apply_patches
from gen.render.permissions import lost, without_limits
from gen.render.results import BuiltObjects, Manifest, OutdatedRun, RenderedJob, SealedObjects, ValidObjects
from gen.render.seal import fill_hash
from gen.render.starters import requested, starter_in

_MAX_SHOWN = 3


def report_faults(
    kept: Sequence[Manifest], behind: OutdatedRun, run: CommittedRun, plan: Plan, overlay: Overlay, found: Findings
) -> None:
    """Report objects of a kept run that do not meet today's rules, and permissions without a grant."""
    restart = f"start a new run with `gen render --restart {plan.source}`"
    paths = [run.workload.path, *(one.path for one in run.others)]
    for manifest, path in zip(kept, paths, strict=True):
        faults = list(_faults(manifest.body, overlay))
        if faults:
            shown = "; ".join(faults[:_MAX_SHOWN]) + (" …" if len(faults) > _MAX_SHOWN else "")
            message = f"`{identity_of(manifest.body)}` was kept, but today's rules refuse it: {shown}"
            found.warning(KEPT_RUN_INVALID, Location(path), message, restart)
    if plan.counts and _is_suspended(run):
        report_start(behind, identity_of(kept[0].body), Location(run.workload.path), plan.source, found)
    elif behind.lost:
        message = (
            f"`{identity_of(kept[0].body)}` was kept and still uses {', '.join(behind.lost)}, "
            f"which overlay `{overlay.name}` does not grant to namespace `{plan.namespace}` any more"
        )
        found.warning(KEPT_RUN_NOT_GRANTED, Location(run.workload.path), message, f"{restart}, or grant it again")


def report_start(behind: OutdatedRun, who: str, place: Location, source: str, found: Findings) -> None:
    """Report a suspended run that goes on, if the overlay of today would not start it as it is."""
    reasons = [f"uses {', '.join(behind.lost)}, which the overlay does not grant any more"] if behind.lost else []
    reasons += [f"has {', '.join(behind.without)}"] if behind.without else []
    if reasons:
        message = f"`{who}` was suspended and must not go on as it is: it {' and '.join(reasons)}"
        hint = f"start a new run with `gen render --restart {source}`, or leave it suspended"
        found.error(KEPT_RUN_NOT_GRANTED, place, message, hint)


def _faults(body: Body, overlay: Overlay) -> Iterator[str]:
    from gen.kubernetes.check.objects import check
    from gen.kubernetes.rules.catalogue import RULES

    inner = held_object(body)
    if inner is not None:
        # with a name, which the operator gives it
        yield from _faults({**inner, "metadata": {**inner.get("metadata", {}), "name": "trial"}}, overlay)
    for problem in check(body, overlay.kinds).problems:
        if RULES[problem.rule].severity_of(body) is Severity.ERROR:
            yield f"{dotted(problem.route) or 'the object'}: {problem.message}"


def keep(
    run: CommittedRun, fresh: RenderedJob, valid: ValidObjects, job: Job, plan: Plan, overlay: Overlay, found: Findings
) -> RenderedJob:
    """`fresh` with the committed run in place of the new one, and with the objects that no run owns.

    Reports rules and grants that the run does not meet any more.
    """
    manifests = _as_committed(run, valid, job, plan, overlay)
    kept = [_kept(one, run, manifests, plan) for one in (run.workload, *run.others)]
    shared = [one.with_body(fill_hash(one.body, run.run)) for one in valid.manifests if not one.of_run]
    written = [one for one in valid.manifests if not one.embedded]
    workload = kept[0].body
    files = emit(SealedObjects((*kept, *shared)), overlay.name, str(run.record), stopped=plan.state == "stopped")
    fresh_bodies = [one.body for one in valid.manifests if one.of_run]
    kept_bodies = [one.body for one in kept]
    behind = OutdatedRun(
        run=run.run,
        kept=tuple(file.path for file in files[: len(kept)]),
        claims=tuple(f"{overlay.name}/{plan.namespace}/{claim}" for claim in sorted(_claims(workload))),
        fresh=tuple(file for file, one in zip(fresh.files, written, strict=True) if one.of_run),
        lost=lost(kept_bodies, fresh_bodies, overlay, plan.namespace),
        without=without_limits(kept_bodies, fresh_bodies),
    )
    if plan.state == "suspended" and _queue(workload):
        hint = f"remove `state`, or start a new run with `gen render --restart {plan.source}`"
        message = f"the run was committed with the queue `{_queue(workload)}`; a run with a queue cannot be `suspended`"
        found.error(SUSPENDED_IN_QUEUE, Location(plan.source), message, hint)
    else:
        report_faults(kept, behind, run, plan, overlay, found)
    asked = _requested(workload, overlay) if plan.counts else Demand()
    return replace(
        fresh,
        files=tuple(files),
        gpus=asked.gpus,
        accelerators=dict(asked.accelerators),
        pods=asked.pods + (plan.tensorboard is not None),
        steps=created_by([workload]) if plan.steps else (),
        kinds=tuple(dict.fromkeys(one.group_kind for one in (*kept, *shared))),
        summary=None,
        behind=behind,
    )


def _is_suspended(run: CommittedRun) -> bool:
    """Whether the pods of the committed run do not run, so that a change of its state starts them."""
    body = run.workload.body
    resource = resource_of_object(body.get("apiVersion"), body["kind"])
    return resource is not None and is_suspended(resource, body)


def _as_committed(
    run: CommittedRun, valid: ValidObjects, job: Job, plan: Plan, overlay: Overlay
) -> tuple[Manifest, ...]:
    """The objects of the new run, rendered with the queue and the naming of the committed one.

    The lifecycle marks in their metadata depend on both.
    """
    local, stable = _queue(run.workload.body), run.run not in run.name
    labels = plan.queue.profile.labels if plan.queue is not None else {}
    if local == labels.get(QUEUE_LABEL, "") and stable == plan.stable:
        return valid.manifests
    queue = QueuePlan(name=local, profile=QUEUES["kueue"].named(local), declared=False) if local else None
    name = plan.name if stable else f"{plan.name}-{RUN}"
    plan = replace(plan, queue=queue, stable=stable, run=name, object_name=TRIAL if plan.starter.named_later else name)
    manifests = apply_patches(build(job, plan), overlay, Findings()).manifests
    return tuple(_started(one, job, plan, overlay) if one.is_workload else one for one in manifests)


def _started(run: Manifest, job: Job, plan: Plan, overlay: Overlay) -> Manifest:
    """The object in Git: the run, or the one around it."""
    around = starter_in(plan).around(run, plan, job.facts)
    return apply_patches(BuiltObjects(around[:1]), overlay, Findings()).manifests[0] if around else run


def _kept(one: CommittedObject, run: CommittedRun, manifests: tuple[Manifest, ...], plan: Plan) -> Manifest:
    """A committed object with the metadata and the suspension of its counterpart among the new ones."""
    body, is_workload = one.body, one is run.workload
    key = (body["kind"], one.name)
    new = next((new for new in manifests if new.of_run and (new.body["kind"], new.name) == key), None)
    metadata = new.body["metadata"] if new is not None else run_metadata(plan, one.name, plan.kind)
    kept = {**body, "metadata": _metadata(fill_hash(metadata, run.run), body)}
    resource = resource_of_object(body.get("apiVersion"), body["kind"])
    suspend = resource.suspend if is_workload and resource is not None else None
    if suspend is not None:
        wanted = at(new.body, *suspend) if new is not None else plan.state == "suspended" or None
        kept = with_field(kept, suspend, wanted)
    return Manifest(
        body=kept,
        name=one.name,
        source=Location(plan.source),
        folder=plan.folder,
        of_run=True,
        main_container=plan.container if is_workload else None,
        suspend=suspend or (),
    )


def _metadata(new: Body, committed: Body) -> Body:
    """The new metadata with the committed name and queue, which a run cannot change."""
    queued = queue_labels()
    labels = {key: value for key, value in new.get("labels", {}).items() if key not in queued}
    labels |= {key: value for key, value in (at(committed, "metadata", "labels") or {}).items() if key in queued}
    return {**new, "name": name_in_cluster(committed["metadata"]), "labels": dict(sorted(labels.items()))}


def _queue(body: Body) -> str:
    """The queue of Kueue that admits the run, or each trial of the search."""
    return str(at(held_object(body) or body, "metadata", "labels", QUEUE_LABEL) or "")


def _claims(workload: Body) -> set[str]:
    """Names of the claims that the pods mount."""
    specs = [at(template, "spec") or {} for _, template in templates_by_shape(workload)]
    volumes = [volume for spec in specs for volume in spec.get("volumes") or ()]
    return {str(claim) for volume in volumes if (claim := at(volume, "persistentVolumeClaim", "claimName"))}


def _requested(workload: Body, overlay: Overlay) -> Demand:
    """The demand of the committed run; none if it cannot be read, which is reported as a value of a wrong type."""
    try:
        return requested(workload, overlay)
    except ValueError:
        return Demand()
