"""Kinds of Kubernetes that gen renders or that rules look at: core, networking, `apps`, `batch` and devices.

Changes of volumes and claims that the server accepts are from kubernetes/api `core/v1/types.go` and its validation;
devices from `resource/v1/types.go`. Kubernetes 1.34 serves their `v1`, and 1.33 `v1beta2` with the same fields.
"""

from __future__ import annotations

from typing import Final

from gen.base import at
from gen.kubernetes.facts import base
from gen.kubernetes.facts.server_defaults import CRON_JOB_LIMITS, JOB_DEFAULTS, in_job
from gen.kubernetes.objects import Body

_V1: dict[str, tuple[str, ...]] = {"v1": ()}

CAPACITY: Final = ("spec", "capacity", "storage")
REQUEST: Final = ("spec", "resources", "requests", "storage")
RECLAIM_POLICY: Final = ("spec", "persistentVolumeReclaimPolicy")

PERSISTENT_VOLUME: Final = base.Resource(
    group="",
    kind="PersistentVolume",
    versions=_V1,
    updates=base.Updates(
        mutable=(("spec", "capacity"), ("spec", "mountOptions"), RECLAIM_POLICY, ("spec", "accessModes")),
        # `ValidatePersistentVolumeUpdate`
        added_once=(("spec", "nodeAffinity"),),
        empty_is_missing=True,
    ),
)
PERSISTENT_VOLUME_CLAIM: Final = base.Resource(
    group="",
    kind="PersistentVolumeClaim",
    versions=_V1,
    known_to_engines=True,
    # "only dynamically provisioned pvc can be resized" (the admission plugin `PersistentVolumeClaimResize`)
    updates=base.Updates(growing=REQUEST, fixed_with=("spec", "volumeName")),
)
CONFIG_MAP: Final = base.Resource(group="", kind="ConfigMap", versions=_V1)
SERVICE: Final = base.Resource(group="", kind="Service", versions=_V1, known_to_engines=True)
POD_TEMPLATE: Final = base.Resource(
    group="", kind="PodTemplate", versions=_V1, pods=(base.PodSet(template=("template",)),)
)
REPLICATION_CONTROLLER: Final = base.Resource(
    group="",
    kind="ReplicationController",
    versions=_V1,
    pods=(base.PodSet(template=("spec", "template"), counts=(base.Count(route=("spec", "replicas")),)),),
)
INGRESS: Final = base.Resource(
    group="networking.k8s.io", kind="Ingress", versions={"networking.k8s.io/v1": ()}, known_to_engines=True
)

RESOURCE_QUOTA: Final = base.Resource(group="", kind="ResourceQuota", versions=_V1)

DATA: Final = (PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM)
"""Kinds that refer to data, which must outlive every run."""

SHARED_HANDLES: Final = frozenset({"efs.csi.aws.com", "fsx.csi.aws.com", "filestore.csi.storage.gke.io"})
"""CSI drivers whose `volumeHandle` is the file system, so that the volumes of several namespaces have the same."""


def _workload(kind: str, *counts: base.Count, claims: tuple[base.Pattern, ...] = ()) -> base.Resource:
    return base.Resource(
        group="apps",
        kind=kind,
        versions={"apps/v1": ("Always",)},
        pods=(base.PodSet(template=("spec", "template"), counts=counts),),
        known_to_engines=True,
        claims=claims,
    )


_REPLICAS = base.Count(route=("spec", "replicas"))

DEPLOYMENT: Final = _workload("Deployment", _REPLICAS)
REPLICA_SET: Final = _workload("ReplicaSet", _REPLICAS)
STATEFUL_SET: Final = _workload(
    "StatefulSet", _REPLICAS, claims=(("spec", "volumeClaimTemplates", base.ANY_ITEM, "metadata", "name"),)
)
DAEMON_SET: Final = _workload("DaemonSet")


POD_LIST_KEYS: Final = {
    **dict.fromkeys(("containers", "initContainers", "ephemeralContainers", "volumes", "env"), "name"),
    **dict.fromkeys(("evictionResponders", "imagePullSecrets", "resourceClaims", "schedulingGates"), "name"),
    "hostAliases": "ip",
    "ports": "containerPort",
    "topologySpreadConstraints": "topologyKey",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
}
"""The field that identifies the items of a list of a pod (`patchMergeKey` in `core/v1/types.go`)."""
INDEX: Final = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
"""Field of a pod with its index. The annotation is older than the label, which Kubernetes has since 1.28."""
POD_DEADLINE: Final = ("spec", "activeDeadlineSeconds")
"""Route in a pod template of the time after which its pod fails."""

CRONJOB: Final = base.Resource(
    group="batch",
    kind="CronJob",
    versions={"batch/v1": ("Never", "OnFailure")},
    pods=(
        base.PodSet(
            template=("spec", "jobTemplate", "spec", "template"),
            counts=(base.Count(route=("spec", "jobTemplate", "spec", "parallelism")),),
        ),
    ),
    is_schedule=True,
    run_metadata=("spec", "jobTemplate", "metadata"),
    # `pkg/apis/batch/v1/types.go`; the controller sets them together with `active`
    times=base.Times(
        started=("status", "lastScheduleTime"), succeeded=("status", "lastSuccessfulTime"), active=("status", "active")
    ),
    suspend=("spec", "suspend"),
    suspend_stops=False,
    deadline=("spec", "jobTemplate", "spec", "activeDeadlineSeconds"),
    retries=("spec", "jobTemplate", "spec", "backoffLimit"),
    known_to_engines=True,
    defaults={("spec", name): number for name, number in CRON_JOB_LIMITS.items()},
    implied={("spec", "concurrencyPolicy"): "Allow", **in_job("spec", "jobTemplate", "spec")},
    # older than the label `batch.kubernetes.io/job-name`, which Kubernetes has since 1.27 (`pkg/apis/batch/types.go`)
    pod_run="metadata.labels['job-name']",
    max_name=52,  # a time of 11 characters is appended to the names of its jobs
)


def _pod_name(body: Body, _role: str) -> str:
    return "{run}-{0}-{random}" if at(body, "spec", "completionMode") == "Indexed" else "{run}-{random}"


def completion_index(pod: base.PodOf) -> list[Body]:
    """The Job controller adds it to each container without it (`addCompletionIndexEnvVariable`)."""
    known = any(one.get("name") == _INDEX_ENV for one in pod.container.get("env") or ())
    shared = pod.body.get("kind") == JOB.kind and at(pod.body, "spec", "completionMode") != "Indexed"
    return [] if known or shared else [{"name": _INDEX_ENV, "valueFrom": {"fieldRef": {"fieldPath": _INDEX_LABEL}}}]


_INDEX_ENV: Final = "JOB_COMPLETION_INDEX"
_INDEX_LABEL: Final = "metadata.labels['batch.kubernetes.io/job-completion-index']"
"""Since Kubernetes 1.28; before, the annotation of this name (`PodIndexLabel`)."""
JOB: Final = base.Resource(
    group="batch",
    kind="Job",
    versions={"batch/v1": ("Never", "OnFailure")},
    pods=(
        base.PodSet(
            template=("spec", "template"), counts=(base.Count(route=("spec", "parallelism")),), pod_name=_pod_name
        ),
    ),
    pod_env=completion_index,
    # `ValidateJobSpecUpdate` in `pkg/apis/batch/validation/validation.go`; of a suspended Job, nodes of pods may change
    updates=base.Updates(
        mutable=tuple(
            ("spec", name)
            for name in (
                *("suspend", "parallelism", "activeDeadlineSeconds", "backoffLimit", "maxFailedIndexes"),
                *("ttlSecondsAfterFinished", "podReplacementPolicy"),
            )
        ),
        empty_is_missing=True,
    ),
    indices=("batch.kubernetes.io/job-completion-index",),
    # `pkg/apis/batch/v1/defaults.go`; gen writes another mode
    defaults={
        ("spec", "completionMode"): JOB_DEFAULTS["completionMode"],
        ("spec", "managedBy"): "kubernetes.io/job-controller",
    },
    implied=in_job("spec"),
    run_labels={"job-name": 0},  # `pkg/apis/batch/types.go`, `LegacyJobNameLabel`
    numbers_hosts=True,
    is_run=True,
    suspend=("spec", "suspend"),
    deadline=("spec", "activeDeadlineSeconds"),
    retries=("spec", "backoffLimit"),
    ttl=("spec", "ttlSecondsAfterFinished"),
    status=base.Conditions(succeeded="Complete", failed="Failed", suspended="Suspended"),
    awaited=base.EndCondition(
        ended=("status", "completionTime")
    ),  # only after success (`pkg/controller/job/job_controller.go`)
    known_to_engines=True,  # `gitops-engine/pkg/health/health_job.go` of Argo CD; kstatus of Flux
    kueue=base.Queueing(framework="batch/job"),
    elastic=True,
    scheduled_by=CRONJOB,
    trial=base.Trial(index={"batch.kubernetes.io/job-completion-index": "0"}),
    # the host name of an indexed pod; a pod also gets a random suffix
    derived=(base.DerivedName(suffix="-{0}", counts=(base.Count(route=("spec", "completions"), default=0),)),),
    pod_index=(INDEX,),
    max_name=63,  # the name of a job is a label of its pods
)


FIRST_VERSION: Final = "1.33"
_FIRST_OF_V1: Final = 34
_OF_CLASS: Final = ".deviceclass.resource.k8s.io/devices"
"""`ResourceClaimsPerClass` in `core/v1/types.go`: quotas count the devices of claims by their class."""

RESOURCE_CLAIM_TEMPLATE: Final = base.Resource(
    group="resource.k8s.io",
    kind="ResourceClaimTemplate",
    versions={"resource.k8s.io/v1": (), "resource.k8s.io/v1beta2": ()},
)


def claims_version(kubernetes: str) -> str:
    """The API version of claims in a version of Kubernetes, such as `1.34`."""
    minor = int(kubernetes.partition(".")[2] or _FIRST_OF_V1)
    return "resource.k8s.io/v1" if minor >= _FIRST_OF_V1 else "resource.k8s.io/v1beta2"


def quota_of(device_class: str) -> str:
    """The name in a ResourceQuota for the devices of a class."""
    return f"{device_class}{_OF_CLASS}"


def in_quota(resource: str) -> str:
    """The name of a resource in a ResourceQuota."""
    return resource if resource.endswith(_OF_CLASS) else f"requests.{resource}"
