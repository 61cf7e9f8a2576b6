"""Labels and annotations of rendered objects.

No `app.kubernetes.io/instance`: older Argo CD takes an object with that label for its own and prunes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.gitops import PROTECTION, run_annotations
from gen.kubernetes import (
    COMPONENT,
    JOB_LABEL,
    MANAGED_BY,
    NAME,
    QUEUE_LABEL,
    RUN,
    RUN_LABEL,
    VOLUME_LABEL,
    Body,
    present,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.kinds.plan import Plan


def job_labels(plan: Plan, component: str) -> dict[str, str]:
    """What every object of a job carries, and its pods select by."""
    return {COMPONENT: component, MANAGED_BY: "gen", NAME: plan.name, JOB_LABEL: plan.name}


def run_labels(plan: Plan, component: str) -> dict[str, str]:
    return {**job_labels(plan, component), RUN_LABEL: RUN}


def run_metadata(plan: Plan, name: str, component: str) -> Body:
    """Metadata of an object of one run."""
    # with a queue a run is not suspended from Git, and with a hash in its name nothing else of it changes there
    settled = plan.queue is not None and not plan.stable
    lifecycle = run_annotations(plan.engines, plan.state, settled=settled)
    queue = {QUEUE_LABEL: plan.queue} if plan.queue else {}
    labels = {**plan.labels, **run_labels(plan, component), **queue}
    return _metadata(name, plan.namespace, labels, {**plan.annotations, **lifecycle})


def job_metadata(plan: Plan, name: str, component: str) -> Body:
    """Metadata of an object that is the same for all runs of a job."""
    return _metadata(name, plan.namespace, {**plan.labels, **job_labels(plan, component)}, plan.annotations)


def storage_metadata(name: str, namespace: str | None, volume: str) -> Body:
    """Metadata of a storage object: it belongs to no job, and no engine may remove it."""
    return _metadata(name, namespace, {MANAGED_BY: "gen", VOLUME_LABEL: volume}, PROTECTION)


def _metadata(name: str, namespace: str | None, labels: Mapping[str, str], annotations: Mapping[str, str]) -> Body:
    return present(
        name=name,
        namespace=namespace,
        labels=dict(sorted(labels.items())),
        annotations=dict(sorted(annotations.items())),
    )
