"""Labels and annotations of rendered objects.

No `app.kubernetes.io/instance`: older Argo CD takes an object with that label for its own and prunes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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

    from gen.plan.types import Plan

# Both engines read protection from the object in the cluster, so it must be there before anything is removed.
# `Prune` does not cover the deletion of an Application, and `Delete` does not cover pruning (Argo CD's sync options).
_PROTECTED = {
    "argocd.argoproj.io/compare-options": "IgnoreExtraneous",
    "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
    "kustomize.toolkit.fluxcd.io/prune": "disabled",
}
_FINISHED = {"argocd.argoproj.io/hook": "Skip", "kustomize.toolkit.fluxcd.io/ssa": "Ignore"}
"""Stays in Git as a record: neither engine applies it, creates it again, or looks at its health."""
_ONCE = {"kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent"}
"""Flux creates the run and then leaves it alone; its content cannot change under its name anyway."""


def job_labels(plan: Plan, component: str) -> dict[str, str]:
    """What every object of a job carries, and its pods select by."""
    return {COMPONENT: component, MANAGED_BY: "gen", NAME: plan.name, JOB_LABEL: plan.name}


def run_labels(plan: Plan, component: str) -> dict[str, str]:
    return {**job_labels(plan, component), RUN_LABEL: RUN}


def run_metadata(plan: Plan, name: str, component: str) -> Body:
    """Metadata of an object of one run."""
    lifecycle = _FINISHED if plan.state == "finished" else {} if plan.stable else _ONCE
    queue = {QUEUE_LABEL: plan.queue} if plan.queue else {}
    labels = {**plan.labels, **run_labels(plan, component), **queue}
    return _metadata(name, plan.namespace, labels, {**plan.annotations, **lifecycle})


def job_metadata(plan: Plan, name: str, component: str) -> Body:
    """Metadata of an object that is the same for all runs of a job."""
    return _metadata(name, plan.namespace, {**plan.labels, **job_labels(plan, component)}, plan.annotations)


def storage_metadata(name: str, namespace: str | None, volume: str) -> Body:
    """Metadata of a storage object: it belongs to no job, and no engine may remove it."""
    return _metadata(name, namespace, {MANAGED_BY: "gen", VOLUME_LABEL: volume}, _PROTECTED)


def _metadata(name: str, namespace: str | None, labels: Mapping[str, str], annotations: Mapping[str, str]) -> Body:
    return present(
        name=name,
        namespace=namespace,
        labels=dict(sorted(labels.items())),
        annotations=dict(sorted(annotations.items())),
    )
