"""Training operator v1 (`kubeflow.org/v1`) and MPI operator (`kubeflow.org/v2beta1`).

From `pkg/apis/kubeflow.org/v1` of kubeflow/trainer 1.9 and `pkg/apis/kubeflow/v2beta1` of kubeflow/mpi-operator 0.8.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

from msgspec.structs import replace

from gen.resources.argo import CRON_WORKFLOW
from gen.resources.base import (
    ANY_KEY,
    Awaited,
    Conditions,
    Count,
    Derived,
    Group,
    Pattern,
    PodSet,
    Queueing,
    Resource,
    retired,
)
from gen.resources.trials import Trial

V1: Final = "kubeflow.org/v1"
V2: Final = "kubeflow.org/v2beta1"
RESTART_V1: Final = ("OnFailure", "Never", "Always", "ExitCode")
CleanupPolicy = Literal["Running", "All", "None"]
CLEANUP_POLICIES: Final[tuple[CleanupPolicy, ...]] = get_args(CleanupPolicy)

POLICY: Final = "runPolicy"
POLICY_FIELDS: Final = (
    *("activeDeadlineSeconds", "backoffLimit", "cleanPodPolicy", "schedulingPolicy", "ttlSecondsAfterFinished"),
)
"""Fields of the policy that were fields of `spec` before `v1`."""
_POLICY = ("spec", POLICY)
# `common_types.go` of the training operator and `types.go` of the MPI operator have the same conditions
_STATUS = Conditions(succeeded="Succeeded", failed="Failed", suspended="Suspended")
_FIRST = {"training.kubeflow.org/replica-index": "0"}
_ALPHA = ("kubeflow.org/v1alpha1", "kubeflow.org/v1alpha2", "kubeflow.org/v1beta1", "kubeflow.org/v1beta2")


def _groups(option: str, *versions: str) -> tuple[Group, ...]:
    """Both operators make groups for one scheduler, which an option selects; without it, they ignore the policy
    (`pkg/controller.v1/common/job.go` of the training operator, `pkg/controller/podgroup.go` of the MPI operator).
    """
    policy = (*_POLICY, "schedulingPolicy")
    size = (*policy, "minAvailable")
    return (
        Group(
            scheduler="volcano",
            settings={
                "queue": (*policy, "queue"),
                "priorityClass": (*policy, "priorityClass"),
                "minAvailable": size,
            },
            option=f"{option}=volcano",
            versions=versions,
        ),
        Group(
            scheduler="coscheduling",
            settings={
                "minAvailable": size,
                "minResources": (*policy, "minResources"),
                "timeout": (*policy, "scheduleTimeoutSeconds"),
            },
            option=f"{option}=<scheduler>",
            versions=versions,
        ),
    )


def _training(
    kind: str,
    role_map: str,
    roles: tuple[str, ...],
    container: str,
    *,
    versions: dict[str, tuple[str, ...]] | None = None,
    old: tuple[str, ...] = (),
    derived: tuple[Derived, ...] = (),
    largest: Pattern | None = None,
    scaled: bool = False,
) -> Resource:
    served = versions or {V1: RESTART_V1}
    holder = ("spec", role_map, ANY_KEY)
    replicas = Count(route=(*holder, "replicas"), largest=largest)
    return Resource(
        group="kubeflow.org",
        kind=kind,
        versions=served,
        retired=retired(next(iter(served)), *old),
        pods=(PodSet(template=(*holder, "template"), counts=(replicas,), roles=roles),),
        restarts_by_role=True,
        indices=("training.kubeflow.org/replica-index",),  # `pkg/apis` of both operators, `common_types.go`
        run_labels={"training.kubeflow.org/job-name": 0},
        container=container,
        is_run=True,
        suspend=(*_POLICY, "suspend"),
        deadline=(*_POLICY, "activeDeadlineSeconds"),
        retries=(*_POLICY, "backoffLimit"),
        ttl=(*_POLICY, "ttlSecondsAfterFinished"),
        cleanup=(*_POLICY, "cleanPodPolicy"),
        status=_STATUS,
        # after success and failure, in one update with the condition (`pkg/controller.v1` of the training operator)
        awaited=Awaited(ended=("status", "completionTime")),
        scheduled_by=CRON_WORKFLOW,
        derived=(
            *derived,
            # each pod and its headless Service
            Derived(
                suffix="-{role}-{0}",
                kinds=("Pod", "Service"),
                each=holder,
                counts=(replicas,),
                only=tuple(role.lower() for role in roles if role != "Launcher"),
            ),
        ),
        # since 0.19, Kueue's configuration does not list the kinds of the training operator (kubernetes-sigs/kueue)
        kueue=Queueing(framework=f"kubeflow.org/{kind.lower()}", shipped=False),
        groups=_groups("--gang-scheduler-name"),
        # `ReplicaIndexLabel` in `pkg/apis/kubeflow.org/v1/common_types.go` of the training operator
        pod_index=("metadata.labels['training.kubeflow.org/replica-index']",),
        trial=Trial(index=_FIRST),
        scaled=("spec", role_map, "Worker", "replicas") if scaled else (),
    )


_MASTER_WORKER = ("Master", "Worker")
TF_ROLES: Final = ("PS", "Worker", "Chief", "Master", "Evaluator")

_TFJOB = _training("TFJob", "tfReplicaSpecs", TF_ROLES, "tensorflow", old=_ALPHA)
TFJOB: Final = replace(_TFJOB, trial=Trial(index=_FIRST, roles=("Chief", "Master", "Worker")))
PYTORCHJOB: Final = _training(
    "PyTorchJob",
    "pytorchReplicaSpecs",
    _MASTER_WORKER,
    "pytorch",
    old=_ALPHA,
    scaled=True,
    largest=("spec", "elasticPolicy", "maxReplicas"),
)
XGBOOSTJOB: Final = _training(
    "XGBoostJob", "xgbReplicaSpecs", _MASTER_WORKER, "xgboost", old=("xgboostjob.kubeflow.org/v1alpha1",)
)
PADDLEJOB: Final = _training("PaddleJob", "paddleReplicaSpecs", _MASTER_WORKER, "paddle", scaled=True)
JAXJOB: Final = _training("JAXJob", "jaxReplicaSpecs", ("Worker",), "jax", scaled=True)
# Neither operator enforces the name `mpi`: both take the first container. The TTL of v2beta1 deletes only the Job of
# the launcher; the TTL of v1 deletes the MPIJob.
_MPIJOB = _training(
    "MPIJob",
    "mpiReplicaSpecs",
    ("Launcher", "Worker"),
    "mpi",
    versions={V2: ("OnFailure", "Never"), V1: RESTART_V1},
    # `mpi_job_controller.go` of both operators; the Service of the workers until 0.4 of the MPI operator
    derived=(
        Derived(suffix="-config", kinds=("ConfigMap",)),
        Derived(suffix="-ssh", kinds=("Secret",)),
        Derived(suffix="-launcher", kinds=("Job", "Pod")),
        Derived(suffix="-worker", kinds=("Service",)),
    ),
    old=("kubeflow.org/v1alpha1", "kubeflow.org/v1alpha2"),
)
MPIJOB: Final = replace(
    _MPIJOB,
    kueue=Queueing(framework="kubeflow.org/mpijob", versions=(V2,)),
    groups=(*_groups("--gang-scheduling", V2), *_groups("--gang-scheduler-name", V1)),
)
