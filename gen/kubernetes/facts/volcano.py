"""Volcano (`batch.volcano.sh`, `scheduling.volcano.sh`), from volcano-sh/apis 1.15."""

from __future__ import annotations

from typing import Final

from gen.kubernetes.facts import base
from gen.kubernetes.facts.argo import CRON_WORKFLOW

SCHEDULER: Final = "volcano"
GROUP_NAME: Final = "scheduling.k8s.io/group-name"
"""Annotation of a pod with the name of its PodGroup."""
DEFAULT_QUEUE: Final = "default"
DEFAULT_RETRIES: Final = 3
"""What the webhook sets (`pkg/webhooks/admission/jobs/mutate`)."""
_TASK: base.Pattern = ("spec", "tasks", base.ANY_ITEM)
_PHASE = ("status", "state", "phase")

VOLCANO_JOB: Final = base.Resource(
    group="batch.volcano.sh",
    kind="Job",
    versions={"batch.volcano.sh/v1alpha1": ("Never", "OnFailure", "Always")},
    pods=(base.PodSet(template=(*_TASK, "template"), counts=(base.Count(route=(*_TASK, "replicas")),)),),
    indices=("volcano.sh/task-index",),  # `pkg/controllers/job/job_controller_util.go`
    run_labels={"volcano.sh/job-name": 0},  # `pkg/apis/batch/v1alpha1/labels.go`
    is_run=True,
    scheduled_by=CRON_WORKFLOW,
    retries=("spec", "maxRetry"),
    ttl=("spec", "ttlSecondsAfterFinished"),
    # an aborted job can only be resumed by a Command object, so for an engine it has failed
    status=base.Phases(
        succeeded=(base.Phase(field=_PHASE, values=("Completed",)),),
        failed=(base.Phase(field=_PHASE, values=("Failed", "Aborted", "Terminated")),),
    ),
    groups=(
        base.Group(
            scheduler=SCHEDULER, settings={"queue": ("spec", "queue"), "priorityClass": ("spec", "priorityClassName")}
        ),
    ),
    scheduler=SCHEDULER,
    # `createJobPod` in `pkg/controllers/job/job_controller_util.go`
    pod_index=("metadata.annotations['volcano.sh/task-index']",),
    trial=base.Trial(index={"volcano.sh/task-index": "0"}),
    # `pkg/webhooks/admission/jobs/mutate`
    filled=(
        *(
            base.Filled(place=("spec",), field=(name,))
            for name in ("queue", "schedulerName", "maxRetry", "minAvailable")
        ),
        *(base.Filled(place=_TASK, field=(name,)) for name in ("name", "minAvailable", "maxRetry")),
    ),
    derived=(
        base.Derived(
            suffix="-{role}-{0}",
            kinds=("Pod",),
            each=_TASK,
            unnamed="default{}",
            counts=(base.Count(route=(*_TASK, "replicas")),),
        ),
    ),
)
POD_GROUP: Final = base.Resource(
    group="scheduling.volcano.sh", kind="PodGroup", versions={"scheduling.volcano.sh/v1beta1": ()}
)
QUEUE: Final = base.Resource(
    group="scheduling.volcano.sh", kind="Queue", versions={"scheduling.volcano.sh/v1beta1": ()}
)
