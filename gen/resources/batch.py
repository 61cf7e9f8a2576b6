"""Kubernetes Jobs (`batch/v1`)."""

from __future__ import annotations

from typing import Final

from gen.resources.base import Awaited, Conditions, Count, Derived, PodSet, Queueing, Resource
from gen.resources.trials import Trial

INDEX: Final = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
"""Field of a pod with its index. The annotation is older than the label, which Kubernetes has since 1.28."""
POD_DEADLINE: Final = ("spec", "activeDeadlineSeconds")
"""Route in a pod template of the time after which its pod fails."""

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
    is_schedule=True,
    suspend=("spec", "suspend"),
    suspend_stops=False,
    deadline=("spec", "jobTemplate", "spec", "activeDeadlineSeconds"),
    retries=("spec", "jobTemplate", "spec", "backoffLimit"),
    known_to_engines=True,
    # older than the label `batch.kubernetes.io/job-name`, which Kubernetes has since 1.27 (`pkg/apis/batch/types.go`)
    pod_run="metadata.labels['job-name']",
    max_name=52,  # a time of 11 characters is appended to the names of its jobs
)
JOB: Final = Resource(
    group="batch",
    kind="Job",
    versions={"batch/v1": ("Never", "OnFailure")},
    pods=(PodSet(template=("spec", "template"), counts=(Count(route=("spec", "parallelism")),)),),
    indices=("batch.kubernetes.io/job-completion-index",),
    run_labels={"job-name": 0},  # `pkg/apis/batch/types.go`, `LegacyJobNameLabel`
    is_run=True,
    suspend=("spec", "suspend"),
    deadline=("spec", "activeDeadlineSeconds"),
    retries=("spec", "backoffLimit"),
    ttl=("spec", "ttlSecondsAfterFinished"),
    status=Conditions(succeeded="Complete", failed="Failed", suspended="Suspended"),
    awaited=Awaited(ended=("status", "completionTime")),  # only after success (`pkg/controller/job/job_controller.go`)
    known_to_engines=True,  # `gitops-engine/pkg/health/health_job.go` of Argo CD; kstatus of Flux
    kueue=Queueing(framework="batch/job"),
    elastic=True,
    scheduled_by=CRONJOB,
    trial=Trial(index={"batch.kubernetes.io/job-completion-index": "0"}),
    # the host name of an indexed pod; a pod also gets a random suffix
    derived=(Derived(suffix="-{0}", counts=(Count(route=("spec", "completions"), default=0),)),),
    pod_index=(INDEX,),
    max_name=63,  # the name of a job is a label of its pods
)
