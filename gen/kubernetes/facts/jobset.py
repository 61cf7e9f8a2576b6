"""JobSet (`jobset.x-k8s.io/v1alpha2`), from `api/jobset/v1alpha2` of kubernetes-sigs/jobset 0.12."""

from __future__ import annotations

from typing import Final

from gen.base import regex
from gen.kubernetes.facts import base
from gen.kubernetes.facts.argo import CRON_WORKFLOW
from gen.kubernetes.facts.builtin import INDEX, completion_index
from gen.kubernetes.facts.server_defaults import in_job

_JOB: base.Pattern = ("spec", "replicatedJobs", base.ANY_ITEM)
TEMPLATE: Final[base.Pattern] = (*_JOB, "template", "spec", "template")
RULE_NAME: Final = regex(r"[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?")
"""Form of the names of rules for failures, with the greatest length."""
MAX_RULE_NAME: Final = 128
FAILURE_REASONS: Final = (
    *("BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded", "PodFailurePolicy"),
)
"""Reasons of failed Jobs that failure policies can name."""
CLAIMS: Final[base.Pattern] = (
    "spec",
    "volumeClaimPolicies",
    base.ANY_ITEM,
    "templates",
    base.ANY_ITEM,
    "metadata",
    "name",
)
COUNTS: Final = (base.Count(route=(*_JOB, "replicas")), base.Count(route=(*_JOB, "template", "spec", "parallelism")))
_TERMINAL_STATE = ("status", "terminalState")
_COMPLETIONS = base.Count(route=(*_JOB, "template", "spec", "completions"), default=0)

JOB_INDEX: Final = "metadata.annotations['jobset.sigs.k8s.io/job-index']"
"""Field of a pod with the index of its Job in its role."""

DEFAULT_RESTART: Final = "OnFailure"
"""Restart policy of pods without one (`pkg/webhooks/jobset_webhook.go`)."""
_JOB_SPEC: base.Pattern = (*_JOB, "template", "spec")

JOBSET: Final = base.Resource(
    group="jobset.x-k8s.io",
    kind="JobSet",
    versions={"jobset.x-k8s.io/v1alpha2": ("Never", "OnFailure")},
    retired=base.retired("jobset.x-k8s.io/v1alpha2", "jobset.x-k8s.io/v1alpha1"),
    pods=(base.PodSet(template=TEMPLATE, counts=COUNTS, pod_name="{run}-{role}-{0}-{1}-{random}"),),
    pod_env=completion_index,
    # `ValidateUpdate` of `pkg/webhooks/jobset_webhook.go`, and rules of the definition
    updates=base.Updates(mutable=(("spec", "suspend"), ("spec", "ttlSecondsAfterFinished"))),
    run_labels={"jobset.sigs.k8s.io/jobset-name": 0},  # `api/jobset/v1alpha2/jobset_types.go`; a TrainJob has its name
    numbers_hosts=True,
    is_run=True,
    suspend=("spec", "suspend"),
    retries=("spec", "failurePolicy", "maxRestarts"),
    ttl=("spec", "ttlSecondsAfterFinished"),
    status=base.Conditions(succeeded="Completed", failed="Failed", suspended="Suspended"),
    trial=base.Trial(index={"jobset.sigs.k8s.io/job-index": "0", "batch.kubernetes.io/job-completion-index": "0"}),
    awaited=base.EndCondition(
        succeeded=(base.Phase(field=_TERMINAL_STATE, values=("Completed",)),),
        failed=(base.Phase(field=_TERMINAL_STATE, values=("Failed",)),),
    ),
    kueue=base.Queueing(framework="jobset.x-k8s.io/jobset"),
    scheduled_by=CRON_WORKFLOW,
    claims=(CLAIMS,),
    pod_index=(JOB_INDEX, INDEX),
    defaults={  # of its definition and webhook
        ("spec", "successPolicy"): {"operator": "All"},
        ("spec", "failurePolicy", "restartStrategy"): "Recreate",
        ("spec", "failurePolicy"): {},
        ("spec", "managedBy"): "jobset.sigs.k8s.io/jobset-controller",
        (*_JOB, "groupName"): "default",
    },
    implied={
        ("spec", "failurePolicy", "maxRestarts"): 0,
        ("spec", "successPolicy"): {},
        ("spec", "successPolicy", "operator"): "All",
        ("spec", "startupPolicy"): {},
        ("spec", "startupPolicy", "startupPolicyOrder"): "AnyOrder",
        **in_job(*_JOB_SPEC, mode="Indexed"),
    },
    # `pkg/webhooks/jobset_webhook.go`
    filled=(
        base.FilledField(place=("spec",), field=("successPolicy",)),
        base.FilledField(place=("spec",), field=("startupPolicy",)),
        base.FilledField(place=("spec",), field=("network", "enableDNSHostnames")),
        base.FilledField(place=("spec",), field=("network", "publishNotReadyAddresses")),
        base.FilledField(place=_JOB_SPEC, field=("completionMode",)),
        base.FilledField(place=_JOB_SPEC, field=("template", "spec", "restartPolicy")),
    ),
    derived=(
        base.DerivedName(suffix="-{role}-{0}", kinds=("Job",), each=_JOB, counts=COUNTS[:1]),
        # a host name, with a random suffix the name of the pod
        base.DerivedName(suffix="-{role}-{0}-{1}-xxxxx", each=_JOB, counts=(COUNTS[0], _COMPLETIONS)),
    ),
)
