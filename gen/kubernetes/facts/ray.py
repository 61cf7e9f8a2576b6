"""KubeRay (`ray.io/v1`), from `ray-operator/apis/ray/v1` of ray-project/kuberay 1.7.

The TTL of a RayJob deletes its cluster and keeps the RayJob itself.
"""

from __future__ import annotations

from typing import Final

from gen.kubernetes.facts import base
from gen.kubernetes.facts.argo import CRON_WORKFLOW

_VERSIONS: dict[str, tuple[str, ...]] = {"ray.io/v1": ("Never", "OnFailure", "Always")}
_RETIRED = base.retired("ray.io/v1", "ray.io/v1alpha1", removed=False)
HEAD: Final = "head"
CLUSTER_TTL: Final = ("spec", "ttlSecondsAfterFinished")
"""Route of the time for which the cluster of a RayJob stays after its end."""
SUBMISSION_MODES: Final = ("K8sJobMode", "HTTPMode", "SidecarMode", "InteractiveMode")
_TOKENS = ("ray-token",)
"""With `authOptions`, the operator mounts tokens of service accounts (`controllers/ray/common/pod.go`)."""
_LABELS = ("metadata", "labels")
# `controllers/ray/batchscheduler/volcano`: the group has the head and all workers, but not the submitter
_VOLCANO = base.Group(
    scheduler="volcano",
    settings={
        "queue": (*_LABELS, "volcano.sh/queue-name"),
        "priorityClass": (*_LABELS, "ray.io/priority-class-name"),
    },
    option="--batch-scheduler=volcano",
)
_DEPLOYMENT_STATUS = ("status", "jobDeploymentStatus")
# `jobStatus` is FAILED before the submitter ends, and while the operator removes the cluster for another attempt
# (`checkBackoffLimitAndUpdateStatusIfNeeded` in `controllers/ray/rayjob_controller.go`); a stopped job is Complete
_FAILED = (
    base.Phase(field=_DEPLOYMENT_STATUS, values=("Failed", "ValidationFailed")),
    base.Phase(field=("status", "jobStatus"), values=("STOPPED",)),
)


def _cluster(*spec: str) -> tuple[base.PodSet, ...]:
    """One head, and groups of workers. Each replica of a group has one pod on each of `numOfHosts` hosts."""
    prefix = "{run}-{random}" if spec[1:] else "{run}"
    group: base.Pattern = (*spec, "workerGroupSpecs", base.ANY_ITEM)
    replicas = base.Count(route=(*group, "replicas"), default=0, largest=(*group, "maxReplicas"))
    workers = replicas, base.Count(route=(*group, "numOfHosts"))
    return (
        base.PodSet(template=(*spec, "headGroupSpec", "template"), role=HEAD, pod_name=f"{prefix}-head-{{random}}"),
        base.PodSet(
            template=(*group, "template"),
            counts=workers,
            item_name="groupName",
            pod_name=f"{prefix}-{{role}}-worker-{{random}}",
        ),
    )


def _filled(*spec: str) -> tuple[base.Filled, ...]:
    """The list of groups is atomic. The operator writes the whole object, with the fields that its types always have
    (`controllers/ray/rayjob_controller.go`), and the definition of KubeRay 1.7 has the other default.
    """
    group: base.Pattern = (*spec, "workerGroupSpecs", base.ANY_ITEM)
    return (
        base.Filled(place=group, field=("scaleStrategy",), value={}),
        base.Filled(place=group, field=("priority",), value=0, in_all=False),
    )


RAYJOB: Final = base.Resource(
    group="ray.io",
    kind="RayJob",
    versions=_VERSIONS,
    retired=_RETIRED,
    pods=(
        *_cluster("spec", "rayClusterSpec"),
        base.PodSet(template=("spec", "submitterPodTemplate"), role="submitter"),
    ),
    # the cluster has the name of the RayJob and five more characters (`GenerateRayClusterName`, `labelPod`)
    run_labels={"ray.io/cluster": len("-12345")},
    is_run=True,
    suspend=("spec", "suspend"),
    deadline=("spec", "activeDeadlineSeconds"),
    retries=("spec", "backoffLimit"),
    # each attempt has a start time of its own (`initRayJobStatusIfNeed` in `rayjob_controller.go` of KubeRay)
    limits_attempt=True,
    kept=("spec", "ttlSecondsAfterFinished"),
    status=base.Phases(
        succeeded=(base.Phase(field=_DEPLOYMENT_STATUS, values=("Complete",)),),
        failed=_FAILED,
        suspended=(base.Phase(field=_DEPLOYMENT_STATUS, values=("Suspended",)),),
    ),
    awaited=base.Awaited(
        succeeded=(
            base.Phase(field=_DEPLOYMENT_STATUS, values=("Complete",)),
            base.Phase(field=("status", "jobStatus"), values=("SUCCEEDED",)),
        ),
        failed=_FAILED,
    ),
    scheduled_by=CRON_WORKFLOW,
    kueue=base.Queueing(framework="ray.io/rayjob"),
    groups=(_VOLCANO,),
    elastic=True,
    added_volumes=_TOKENS,
    filled=_filled("spec", "rayClusterSpec"),
    max_name=47,
)
RAYCLUSTER: Final = base.Resource(
    group="ray.io",
    kind="RayCluster",
    versions=_VERSIONS,
    retired=_RETIRED,
    pods=_cluster("spec"),
    suspend=("spec", "suspend"),
    kueue=base.Queueing(framework="ray.io/raycluster"),
    groups=(_VOLCANO,),
    elastic=True,
    added_volumes=_TOKENS,
    max_name=53,
)
RAYSERVICE: Final = base.Resource(
    group="ray.io",
    kind="RayService",
    versions=_VERSIONS,
    retired=_RETIRED,
    pods=_cluster("spec", "rayClusterConfig"),
    elastic=True,
    added_volumes=_TOKENS,
)
