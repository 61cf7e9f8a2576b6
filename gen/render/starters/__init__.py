"""What starts the runs of a job: a file for each starter. The first one that a job's fields select starts it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from gen.base import at
from gen.base.placeholders import RUN
from gen.base.yaml.strict import Data
from gen.job.kinds.base import Job
from gen.job.plan import Plan
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.demand import Demand, demand
from gen.kubernetes.facts.graphs import graph_of
from gen.kubernetes.facts.pods import pod_sets
from gen.kubernetes.facts.scheduling import queue_in
from gen.kubernetes.objects import CHECKPOINTS, JOB_LABEL, RESUMES, VALUES, Body
from gen.overlay.overlay import Overlay
from gen.render.results import RunSummary
from gen.render.starters import base, cron_job, cron_workflow, direct, experiment, kubeflow_pipeline, workflow

STARTERS: Final[tuple[type[base.Starter], ...]] = (
    experiment.Experiment,
    kubeflow_pipeline.KubeflowPipeline,
    cron_workflow.CronWorkflow,
    cron_job.CronJob,
    workflow.Workflow,
    direct.Direct,
)


def starter_of(model: type[Job], data: Mapping[str, Data]) -> type[base.Starter]:
    """What starts the runs of a job with these fields."""
    return next(one for one in STARTERS if one.starts(model, data))


@cache
def starter_of_object(resource: Resource) -> type[base.Starter]:
    """What makes objects of a kind that are in Git."""
    return next(one for one in STARTERS if one.makes(resource))


def requested(workload: Body, overlay: Overlay) -> Demand:
    """Pods and GPUs of all runs at once that the object of a job has or starts. ValueError for an unreadable amount."""
    resource = resource_of_object(workload.get("apiVersion"), workload.get("kind"))
    if resource is None:
        return Demand()
    one = demand(workload, resource, overlay.device_units, overlay.runtimes)
    return one.times(starter_of_object(resource).rate(workload.get("spec"), one, active=True)[0])


def summary(workload: Body, asked: Demand, run: str) -> RunSummary | None:
    """Values of an active run with this hash for a plan; None if the object makes others."""
    resource = resource_of_object(workload.get("apiVersion"), workload.get("kind"))
    if resource is None or starter_of_object(resource) is not direct.Direct:
        return None
    labels, annotations = (workload["metadata"].get(name) for name in ("labels", "annotations"))
    texts = (str(at(annotations, key) or "").replace(RUN, run) for key in (VALUES, CHECKPOINTS, RESUMES))
    values, saves, resumes = texts
    return RunSummary(
        job=labels[JOB_LABEL],
        pods=asked.pods,
        gpus=asked.gpus,
        accelerators=dict(asked.accelerators),
        seconds=asked.seconds,
        queue=queue_in(labels),
        values=values,
        saves=saves,
        resumes=resumes,
    )


PREEMPTS = "PreemptLowerPriority"
_DEFAULT = "(default)"
"""In place of a class: pods without one have that of the cluster."""


def preempting_classes(body: Body, kind: Resource) -> tuple[str, ...]:
    """PriorityClasses of pods that may stop other pods. ValueError if a step cannot be read.

    The scheduler removes pods of a lower priority from a node, in any namespace and queue, if a pod does not fit
    otherwise and its policy is `PreemptLowerPriority` (`concepts/scheduling-eviction/pod-priority-preemption` of the
    documentation of Kubernetes). Pods have the policy if the overlay declares it for their PriorityClass. That of
    other classes is only known in the cluster.
    """
    return tuple(sorted(set(_classes(body, kind))))


def _classes(body: Body, kind: Resource) -> Iterator[str]:
    for pods in pod_sets(kind, body):
        spec = at(pods.template, "spec")
        if at(spec, "preemptionPolicy") == PREEMPTS:
            yield str(at(spec, "priorityClassName") or _DEFAULT)
    steps = (task.body for task in graph_of(kind).tasks(body)) if kind.steps else None
    for inner in steps or starter_of_object(kind).started(kind, body):
        resource = resource_of_object(at(inner, "apiVersion"), at(inner, "kind"))
        if resource is not None and not resource.steps and isinstance(inner, dict):
            yield from _classes(inner, resource)


def starter_in(plan: Plan) -> base.Starter:
    """The starter with the decisions of a plan."""
    assert isinstance(plan.starter, base.Starter)  # all are in the registry
    return plan.starter
