"""The build stage: Kubernetes objects of a plan. It makes no decisions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gen.base import Location, set_value
from gen.base.placeholders import RUN
from gen.job.kinds.base import Job
from gen.job.plan import Plan
from gen.kubernetes.objects import Body
from gen.render.parts import accelerator, data, queue, quota
from gen.render.parts.data import StoragePlan, storage_objects
from gen.render.parts.metadata import arena_state, describe_run, run_metadata, show_to_arena
from gen.render.parts.pods import pod_template
from gen.render.parts.tensorboard import tensorboard
from gen.render.results import BuiltObjects, Manifest
from gen.render.starters import starter_in


def build(job: Job, plan: Plan) -> BuiltObjects:
    """Objects of a run, and its TensorBoard."""
    shared = (*starter_in(plan).objects(plan), *tensorboard(plan))
    return BuiltObjects((*_run(job, plan), *_beside(plan, shared)))


def build_storage(plans: Iterable[StoragePlan], limits: Iterable[quota.ResourceQuotaPlan] = ()) -> BuiltObjects:
    """Objects of volumes, once per namespace that uses one, and the limits of namespaces."""
    volumes = (manifest for plan in plans for manifest in storage_objects(plan))
    return BuiltObjects((*volumes, *(quota.resource_quota(plan) for plan in limits)))


def _run(job: Job, plan: Plan) -> Iterator[Manifest]:
    pods = {pod.role.name: pod_template(plan, pod, job.facts) for pod in plan.pods}
    queued = queue.queue_run(plan, job.facts, pods)
    if plan.queue is not None:
        pods = queue.queued_pods(plan.queue, queued)
    starter = starter_in(plan)
    workload = starter.workload(job, plan, pods)
    if not plan.inner:
        describe_run(workload, plan)
    suspend = starter.suspend(job.facts)
    if plan.state == "suspended" and suspend is not None:
        set_value(workload, suspend, value=True)
    if plan.queue is not None:
        queue.put_into_queue(plan.queue, queued, workload)
    if plan.arena:
        show_to_arena(job, plan, pods, workload)
    yield Manifest(
        body=starter.scheduled(workload, plan),
        name=plan.name,
        source=Location(plan.source),
        folder=plan.folder,
        of_run=True,
        main_container=plan.container,
        step=plan.step,
        suspend=suspend or (),
        whole_hash=starter.whole_hash,
        queue=plan.queue.profile if plan.queue is not None and plan.queue.declared else None,
    )
    group = plan.queue.profile.objects(queued) if plan.queue is not None else ()
    state = (arena_state(plan, job.facts),) if plan.arena else ()
    for body in (*job.companions(plan), *_config_map(plan), *accelerator.claim_templates(plan), *group, *state):
        name = body["metadata"]["name"]
        body["metadata"] = run_metadata(plan, name, plan.kind)
        yield Manifest(body=body, name=stable_name(name), source=Location(plan.source), folder=plan.folder, of_run=True)


def _config_map(plan: Plan) -> Iterator[Body]:
    if plan.files:
        start = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": data.config_map_name(plan.name)}}
        yield {**start, "immutable": True, "data": dict(plan.files)}


def _beside(plan: Plan, bodies: Iterable[Body]) -> Iterator[Manifest]:
    """Objects that all runs of the job share."""
    for body in bodies:
        yield Manifest(body=body, name=body["metadata"]["name"], source=Location(plan.source), folder=plan.folder)


def stable_name(name: str) -> str:
    """Name of an object without the hash of the run."""
    return name.replace(f"-{RUN}", "")
