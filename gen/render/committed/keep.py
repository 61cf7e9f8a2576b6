"""Keep a committed run: its content as it was committed, with the metadata and the suspension that the job sets now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from gen.diagnostics import Findings, Location
from gen.findings.jobs import SUSPENDED_IN_QUEUE
from gen.kinds.plan import QueuePlan
from gen.kubernetes import QUEUE_LABEL, RUN, TRIAL, Body, at, with_field
from gen.queues import QUEUES
from gen.render.build.metadata import run_metadata
from gen.render.build.search import experiment
from gen.render.build.stage import build
from gen.render.committed.report import report_faults
from gen.render.emit import emit
from gen.render.manifest import Built, Manifest, Sealed
from gen.render.patch.stage import apply_patches
from gen.render.results import Behind
from gen.render.seal import filled
from gen.resources import held_object, queue_labels, resource_of_object
from gen.resources.demand import Demand, demand
from gen.resources.graphs import created_by
from gen.resources.pods import templates_by_shape

if TYPE_CHECKING:
    from gen.kinds.base import Job
    from gen.kinds.plan import Plan, SearchPlan
    from gen.overlay.overlay import Overlay
    from gen.render.committed.read import CommittedObject, CommittedRun
    from gen.render.manifest import Valid
    from gen.render.results import RenderedJob


def keep(
    run: CommittedRun, fresh: RenderedJob, valid: Valid, job: Job, plan: Plan, overlay: Overlay, found: Findings
) -> RenderedJob:
    """`fresh` with the committed run in place of the new one, and with the objects that no run owns.

    Reports rules and grants that the run does not meet any more.
    """
    manifests = _as_committed(run, valid, job, plan, overlay)
    kept = [_kept(one, run, manifests, plan) for one in (run.workload, *run.others)]
    shared = [one.with_body(filled(one.body, run.run)) for one in valid.manifests if not one.of_run]
    written = [one for one in valid.manifests if not one.embedded]
    workload = kept[0].body
    if plan.state == "suspended" and _queue(workload):
        hint = f"remove `state`, or start a new run with `gen render --restart {plan.source}`"
        message = f"the run was committed with the queue `{_queue(workload)}`; a run with a queue cannot be `suspended`"
        found.error(SUSPENDED_IN_QUEUE, Location(plan.source), message, hint)
    else:
        report_faults(kept, valid, run, plan, overlay, found)
    files = emit(Sealed((*kept, *shared)), overlay.name, str(run.record))
    asked = _demand(workload, overlay) if plan.counts else Demand()
    return replace(
        fresh,
        files=tuple(files),
        gpus=asked.gpus,
        accelerators=dict(asked.accelerators),
        pods=asked.pods + (plan.tensorboard is not None),
        steps=created_by([workload]) if plan.steps else (),
        kinds=tuple(dict.fromkeys(one.group_kind for one in (*kept, *shared))),
        behind=Behind(
            run=run.run,
            kept=tuple(file.path for file in files[: len(kept)]),
            claims=tuple(f"{overlay.name}/{plan.namespace}/{claim}" for claim in sorted(_claims(workload))),
            fresh=tuple(file for file, one in zip(fresh.files, written, strict=True) if one.of_run),
        ),
    )


def _as_committed(run: CommittedRun, valid: Valid, job: Job, plan: Plan, overlay: Overlay) -> tuple[Manifest, ...]:
    """The objects of the new run, rendered with the queue and the naming of the committed one.

    The lifecycle marks in their metadata depend on both.
    """
    local, stable = _queue(run.workload.body), run.run not in run.name
    labels = plan.queue.profile.labels if plan.queue is not None else {}
    if local == labels.get(QUEUE_LABEL, "") and stable == plan.stable:
        return valid.manifests
    queue = QueuePlan(name=local, profile=QUEUES["kueue"].named(local), declared=False) if local else None
    name = plan.name if stable else f"{plan.name}-{RUN}"
    plan = replace(plan, queue=queue, stable=stable, run=name, object_name=TRIAL if plan.search is not None else name)
    manifests = apply_patches(build(job, plan), overlay, Findings()).manifests
    return tuple(_searched(one, plan, plan.search, overlay) if one.is_workload else one for one in manifests)


def _searched(trial: Manifest, plan: Plan, search: SearchPlan | None, overlay: Overlay) -> Manifest:
    """The object in Git: the run, or the search around it."""
    if search is None:
        return trial
    (around,) = apply_patches(Built((experiment(trial, plan, search),)), overlay, Findings()).manifests
    return around


def _kept(one: CommittedObject, run: CommittedRun, manifests: tuple[Manifest, ...], plan: Plan) -> Manifest:
    """A committed object with the metadata and the suspension of its counterpart among the new ones."""
    body, is_workload = one.body, one is run.workload
    key = (body["kind"], one.name)
    new = next((new for new in manifests if new.of_run and (new.body["kind"], new.name) == key), None)
    metadata = new.body["metadata"] if new is not None else run_metadata(plan, one.name, plan.kind)
    kept = {**body, "metadata": _metadata(filled(metadata, run.run), body)}
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
    return {**new, "name": committed["metadata"]["name"], "labels": dict(sorted(labels.items()))}


def _queue(body: Body) -> str:
    """The queue of Kueue that admits the run, or each trial of the search."""
    return str(at(held_object(body) or body, "metadata", "labels", QUEUE_LABEL) or "")


def _claims(workload: Body) -> set[str]:
    """Names of the claims that the pods mount."""
    specs = [at(template, "spec") or {} for _, template in templates_by_shape(workload)]
    volumes = [volume for spec in specs for volume in spec.get("volumes") or ()]
    return {str(claim) for volume in volumes if (claim := at(volume, "persistentVolumeClaim", "claimName"))}


def _demand(workload: Body, overlay: Overlay) -> Demand:
    """The demand of the committed run; none if it cannot be read, which is reported as a value of a wrong type."""
    resource = resource_of_object(workload.get("apiVersion"), workload["kind"])
    try:
        return demand(workload, resource, overlay.device_units) if resource is not None else Demand()
    except ValueError:
        return Demand()
