"""JobSet (`jobset.x-k8s.io/v1alpha2`), from `api/jobset/v1alpha2` of kubernetes-sigs/jobset 0.12."""

from __future__ import annotations

from typing import Final

from gen.resources.argo import CRON_WORKFLOW
from gen.resources.base import (
    ANY_ITEM,
    Awaited,
    Conditions,
    Count,
    Derived,
    Pattern,
    Phase,
    PodSet,
    Queueing,
    Resource,
    retired,
)
from gen.resources.batch import INDEX
from gen.resources.trials import Trial

_JOB: Pattern = ("spec", "replicatedJobs", ANY_ITEM)
TEMPLATE: Final[Pattern] = (*_JOB, "template", "spec", "template")
FAILURE_REASONS: Final = (
    *("BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded", "PodFailurePolicy"),
)
"""Reasons of failed Jobs that failure policies can name."""
CLAIMS: Final[Pattern] = ("spec", "volumeClaimPolicies", ANY_ITEM, "templates", ANY_ITEM, "metadata", "name")
COUNTS: Final = (Count(route=(*_JOB, "replicas")), Count(route=(*_JOB, "template", "spec", "parallelism")))
_TERMINAL_STATE = ("status", "terminalState")
_COMPLETIONS = Count(route=(*_JOB, "template", "spec", "completions"), default=0)

JOB_INDEX: Final = "metadata.annotations['jobset.sigs.k8s.io/job-index']"
"""Field of a pod with the index of its Job in its role."""

JOBSET: Final = Resource(
    group="jobset.x-k8s.io",
    kind="JobSet",
    versions={"jobset.x-k8s.io/v1alpha2": ("Never", "OnFailure")},
    retired=retired("jobset.x-k8s.io/v1alpha2", "jobset.x-k8s.io/v1alpha1"),
    pods=(PodSet(template=TEMPLATE, counts=COUNTS),),
    run_labels={"jobset.sigs.k8s.io/jobset-name": 0},  # `api/jobset/v1alpha2/jobset_types.go`; a TrainJob has its name
    is_run=True,
    suspend=("spec", "suspend"),
    retries=("spec", "failurePolicy", "maxRestarts"),
    ttl=("spec", "ttlSecondsAfterFinished"),
    status=Conditions(succeeded="Completed", failed="Failed", suspended="Suspended"),
    trial=Trial(index={"jobset.sigs.k8s.io/job-index": "0", "batch.kubernetes.io/job-completion-index": "0"}),
    awaited=Awaited(
        succeeded=(Phase(field=_TERMINAL_STATE, values=("Completed",)),),
        failed=(Phase(field=_TERMINAL_STATE, values=("Failed",)),),
    ),
    kueue=Queueing(framework="jobset.x-k8s.io/jobset"),
    scheduled_by=CRON_WORKFLOW,
    claims=(CLAIMS,),
    pod_index=(JOB_INDEX, INDEX),
    derived=(
        Derived(suffix="-{role}-{0}", kinds=("Job",), each=_JOB, counts=COUNTS[:1]),
        # a host name, with a random suffix the name of the pod
        Derived(suffix="-{role}-{0}-{1}-xxxxx", each=_JOB, counts=(COUNTS[0], _COMPLETIONS)),
    ),
)
