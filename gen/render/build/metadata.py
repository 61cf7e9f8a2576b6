"""Labels and annotations of rendered objects.

`app.kubernetes.io/instance` is not set: older versions of Argo CD prune objects with that label as their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.kubernetes import (
    COMPONENT,
    JOB_LABEL,
    MANAGED_BY,
    NAME,
    QUEUE,
    RUN,
    RUN_LABEL,
    STEP_LABEL,
    TRIAL,
    VOLUME_LABEL,
    WORKFLOW_LABEL,
    Body,
    present,
)
from gen.resources.engines import aside_annotations, run_annotations, storage_annotations

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.kinds.plan import Plan


def job_labels(plan: Plan, component: str) -> dict[str, str]:
    """Labels of every object of a job, also used by selectors."""
    return {COMPONENT: component, MANAGED_BY: "gen", NAME: plan.job, JOB_LABEL: plan.job}


def run_labels(plan: Plan, component: str) -> dict[str, str]:
    return {**job_labels(plan, component), **own_labels(plan)}


def own_labels(plan: Plan) -> dict[str, str]:
    """Labels that no other run has, and no other step of a pipeline."""
    of_step = {STEP_LABEL: plan.step} if plan.step else {}
    of_workflow = {WORKFLOW_LABEL: TRIAL} if plan.step and TRIAL in plan.run else {}
    return {RUN_LABEL: RUN, **of_step, **of_workflow}


def run_metadata(plan: Plan, name: str, component: str) -> Body:
    """Metadata of an object of one run."""
    lifecycle = run_annotations(plan.engines, plan.state, settled=_is_settled(plan))
    queue = queue_labels(plan) if plan.schedule is None and plan.search is None else _own_queue_label(plan)
    labels = {**plan.labels, **run_labels(plan, component), **queue}
    return _metadata(name, plan.namespace, labels, {**plan.annotations, **lifecycle})


def inner_metadata(plan: Plan) -> Body:
    """Metadata of a trial of a search or of a step of a pipeline, which engines do not know.

    It is a part of the object around it, so labels that can change without a new run are not in it.
    """
    return _metadata(plan.run, plan.namespace, {**run_labels(plan, plan.kind), **queue_labels(plan)}, {})


def queue_labels(plan: Plan) -> Mapping[str, str]:
    """Labels of a run that its queue acts on, and the name of the queue."""
    return {**plan.queue.profile.labels, **_own_queue_label(plan)} if plan.queue is not None else {}


def _own_queue_label(plan: Plan) -> Mapping[str, str]:
    return {QUEUE: plan.queue.name} if plan.queue is not None and plan.queue.declared else {}


def _is_settled(plan: Plan) -> bool:
    """Whether Git never changes an active run under the same name: a run with a hash that Git does not suspend."""
    if plan.queue is None or plan.stable:
        return False
    return plan.queue.profile.suspends or not plan.can_suspend


def job_metadata(plan: Plan, name: str, component: str) -> Body:
    """Metadata of an object that all runs of a job share, and whose health is not that of a run."""
    labels = {**plan.labels, **job_labels(plan, component)}
    return _metadata(name, plan.namespace, labels, {**plan.annotations, **aside_annotations(plan.engines)})


def storage_metadata(name: str, namespace: str | None, volume: str) -> Body:
    """Metadata of a storage object, which belongs to no job and is protected from pruning."""
    return _metadata(name, namespace, {MANAGED_BY: "gen", VOLUME_LABEL: volume}, storage_annotations())


def platform_metadata(name: str, namespace: str) -> Body:
    """Metadata of an object that belongs to a namespace as a whole, which is protected from pruning like storage."""
    return _metadata(name, namespace, {MANAGED_BY: "gen"}, storage_annotations())


def _metadata(name: str, namespace: str | None, labels: Mapping[str, str], annotations: Mapping[str, str]) -> Body:
    return present(
        name=name,
        namespace=namespace,
        labels=dict(sorted(labels.items())),
        annotations=dict(sorted(annotations.items())),
    )
