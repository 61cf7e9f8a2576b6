"""What starts the runs of a job: a file for each starter. The first one that a job's fields select starts it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from gen.base.yaml.strict import Data
from gen.job.kinds.base import Job
from gen.job.plan import Plan
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.demand import Demand, demand
from gen.kubernetes.objects import Body
from gen.overlay.overlay import Overlay
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


def starter_in(plan: Plan) -> base.Starter:
    """The starter with the decisions of a plan."""
    assert isinstance(plan.starter, base.Starter)  # all are in the registry
    return plan.starter
