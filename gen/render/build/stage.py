"""The build stage: Kubernetes objects of a plan. It makes no decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
from msgspec.structs import replace

from gen.diagnostics import Location
from gen.kubernetes import METRICS, RUN, VALUES, Body, set_value
from gen.render.build.arena import show_to_arena, state_of
from gen.render.build.claims import claim_templates
from gen.render.build.metadata import inner_metadata, platform_metadata, run_metadata, storage_metadata
from gen.render.build.metrics import metrics_annotation
from gen.render.build.pipeline_version import definition_objects, version_spec
from gen.render.build.pod import pod_template
from gen.render.build.queue import put_into_queue, queue_run, queued_pods
from gen.render.build.schedule import scheduled
from gen.render.build.tensorboard import tensorboard
from gen.render.manifest import Built, Manifest
from gen.render.plan.data import config_map_name
from gen.resources.core import RESOURCE_QUOTA

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gen.kinds.base import Job
    from gen.kinds.plan import Plan, ResourceQuotaPlan, StoragePlan
    from gen.resources.base import Resource

_QUOTA = "gen"
"""Name of the ResourceQuota of a namespace."""


def build(job: Job, plan: Plan) -> Built:
    """Objects of a run, and its TensorBoard."""
    return Built((*_run(job, plan), *_beside(plan, definition_objects(plan)), *_beside(plan, tensorboard(plan))))


def build_storage(plans: Iterable[StoragePlan], limits: Iterable[ResourceQuotaPlan] = ()) -> Built:
    """Objects of volumes, once per namespace that uses one, and the limits of namespaces."""
    volumes = (manifest for plan in plans for manifest in _storage(plan))
    return Built((*volumes, *(_resource_quota(plan) for plan in limits)))


def _run(job: Job, plan: Plan) -> Iterator[Manifest]:
    pods = {pod.role.name: pod_template(plan, pod, job.facts) for pod in plan.pods}
    queued = queue_run(plan, job.facts, pods)
    if plan.queue is not None:
        pods = queued_pods(plan.queue, queued)
    workload, facts = _workload(job, plan, pods)
    if not plan.inner:
        describe_run(workload, plan)
    if plan.in_workflow:
        facts = replace(facts, suspend=None)
    elif plan.schedule is not None:
        facts = plan.schedule.facts
    if plan.state == "suspended" and facts.suspend is not None:
        set_value(workload, facts.suspend, value=True)
    if plan.queue is not None:
        put_into_queue(plan.queue, queued, workload)
    if plan.arena:
        show_to_arena(job, plan, pods, workload)
    if plan.schedule is not None and not plan.in_workflow:
        workload = scheduled(workload, plan, plan.schedule)
    yield Manifest(
        body=workload,
        name=plan.name,
        source=Location(plan.source),
        folder=plan.folder,
        of_run=True,
        main_container=plan.container,
        step=plan.step,
        suspend=facts.suspend or (),
        queue=plan.queue.profile if plan.queue is not None and plan.queue.declared else None,
    )
    group = plan.queue.profile.objects(queued) if plan.queue is not None else ()
    state = (state_of(plan, job.facts),) if plan.arena else ()
    for body in (*job.companions(plan), *_config_map(plan), *claim_templates(plan), *group, *state):
        name = body["metadata"]["name"]
        body["metadata"] = run_metadata(plan, name, plan.kind)
        yield Manifest(body=body, name=stable_name(name), source=Location(plan.source), folder=plan.folder, of_run=True)


def _workload(job: Job, plan: Plan, pods: dict[str, Body]) -> tuple[Body, Resource]:
    """The run, or the definition of runs, and the facts of its kind."""
    if plan.definition is None:
        facts, version, spec = job.facts, plan.api_version, job.workload(plan, pods)
    else:
        facts = plan.definition.facts
        version, spec = facts.served[0], version_spec(plan, plan.definition)
    metadata = inner_metadata(plan) if plan.inner else run_metadata(plan, plan.run, plan.kind)
    return {"apiVersion": version, "kind": facts.kind, "metadata": metadata, "spec": spec}, facts


def describe_run(workload: Body, plan: Plan) -> None:
    """Annotate an object of a run in Git with the metrics of the job and its steps, and the values of the run."""
    if (metrics := metrics_annotation(plan)) is not None:
        workload["metadata"].setdefault("annotations", {})[METRICS] = metrics
    if plan.values:
        workload["metadata"].setdefault("annotations", {})[VALUES] = orjson.dumps(plan.values).decode()


def _config_map(plan: Plan) -> Iterator[Body]:
    if plan.files:
        metadata = {"name": config_map_name(plan.name)}
        yield {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": metadata,
            "immutable": True,
            "data": dict(plan.files),
        }


def _beside(plan: Plan, bodies: Iterable[Body]) -> Iterator[Manifest]:
    """Objects that all runs of the job share."""
    for body in bodies:
        yield Manifest(body=body, name=body["metadata"]["name"], source=Location(plan.source), folder=plan.folder)


def _storage(plan: StoragePlan) -> Iterator[Manifest]:
    for body in plan.profile.objects(plan.volume):
        name, namespace = body["metadata"]["name"], body["metadata"].get("namespace")
        body["metadata"] = storage_metadata(name, namespace, plan.volume.name)
        yield Manifest(body=body, name=name, source=plan.place, folder=plan.volume.namespace, tree="storage")


def _resource_quota(plan: ResourceQuotaPlan) -> Manifest:
    body = {
        "apiVersion": "v1",
        "kind": RESOURCE_QUOTA.kind,
        "metadata": platform_metadata(_QUOTA, plan.namespace),
        "spec": {"hard": dict(plan.hard)},
    }
    return Manifest(body=body, name=_QUOTA, source=plan.place, folder=plan.namespace, tree="storage")


def stable_name(name: str) -> str:
    """Name of an object without the hash of the run."""
    return name.replace(f"-{RUN}", "")
