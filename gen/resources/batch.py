"""Kubernetes Jobs (`batch/v1`)."""

from __future__ import annotations

from typing import Final

from gen.resources.base import Conditions, Count, PodSet, Resource

JOB: Final = Resource(
    group="batch",
    kind="Job",
    versions={"batch/v1": ("Never", "OnFailure")},
    pods=(PodSet(template=("spec", "template"), counts=(Count(route=("spec", "parallelism")),)),),
    is_run=True,
    suspend=("spec", "suspend"),
    deadline=("spec", "activeDeadlineSeconds"),
    ttl=("spec", "ttlSecondsAfterFinished"),
    status=Conditions(succeeded="Complete", failed="Failed", suspended="Suspended"),
    known_to_engines=True,  # `gitops-engine/pkg/health/health_job.go` of Argo CD; kstatus of Flux
    queues=("kueue", "volcano"),
    elastic=True,
)
CRONJOB: Final = Resource(
    group="batch",
    kind="CronJob",
    versions={"batch/v1": ("Never", "OnFailure")},
    pods=(
        PodSet(
            template=("spec", "jobTemplate", "spec", "template"),
            counts=(Count(route=("spec", "jobTemplate", "spec", "parallelism")),),
        ),
    ),
    known_to_engines=True,
)
