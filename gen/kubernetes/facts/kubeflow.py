"""Training operator v1 (`kubeflow.org/v1`) and MPI operator (`kubeflow.org/v2beta1`).

From `pkg/apis/kubeflow.org/v1` of kubeflow/trainer 1.9 and `pkg/apis/kubeflow/v2beta1` of kubeflow/mpi-operator 0.8.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

from msgspec.structs import replace

from gen.kubernetes.facts import base, training_env
from gen.kubernetes.facts.argo import CRON_WORKFLOW
from gen.kubernetes.objects import Body

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
_STATUS = base.Conditions(succeeded="Succeeded", failed="Failed", suspended="Suspended")
_FIRST = {"training.kubeflow.org/replica-index": "0"}
_ALPHA = ("kubeflow.org/v1alpha1", "kubeflow.org/v1alpha2", "kubeflow.org/v1beta1", "kubeflow.org/v1beta2")


def _groups(option: str, *versions: str) -> tuple[base.Group, ...]:
    """Both operators make groups for one scheduler, which an option selects; without it, they ignore the policy
    (`pkg/controller.v1/common/job.go` of the training operator, `pkg/controller/podgroup.go` of the MPI operator).
    """
    policy = (*_POLICY, "schedulingPolicy")
    size = (*policy, "minAvailable")
    return (
        base.Group(
            scheduler="volcano",
            settings={
                "queue": (*policy, "queue"),
                "priorityClass": (*policy, "priorityClass"),
                "minAvailable": size,
            },
            option=f"{option}=volcano",
            versions=versions,
        ),
        base.Group(
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


def _pod_name(body: Body, role: str) -> str:
    """Both operators make one launcher: a pod of its own, or that of a Job."""
    if role == "Launcher":
        return "{run}-{role}-{random}" if body.get("apiVersion") == V2 else "{run}-{role}"
    return "{run}-{role}-{0}"


def _training(
    kind: str,
    role_map: str,
    roles: tuple[str, ...],
    container: str,
    *,
    versions: dict[str, tuple[str, ...]] | None = None,
    old: tuple[str, ...] = (),
    derived: tuple[base.Derived, ...] = (),
    largest: base.Pattern | None = None,
    scaled: bool = False,
) -> base.Resource:
    served = versions or {V1: RESTART_V1}
    holder = ("spec", role_map, base.ANY_KEY)
    replicas = base.Count(route=(*holder, "replicas"), largest=largest)
    return base.Resource(
        group="kubeflow.org",
        kind=kind,
        versions=served,
        retired=base.retired(next(iter(served)), *old),
        pods=(base.PodSet(template=(*holder, "template"), counts=(replicas,), roles=roles, pod_name=_pod_name),),
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
        awaited=base.Awaited(ended=("status", "completionTime")),
        scheduled_by=CRON_WORKFLOW,
        derived=(
            *derived,
            # each pod and its headless Service
            base.Derived(
                suffix="-{role}-{0}",
                kinds=("Pod", "Service"),
                each=holder,
                counts=(replicas,),
                only=tuple(role.lower() for role in roles if role != "Launcher"),
            ),
        ),
        # since 0.19, Kueue's configuration does not list the kinds of the training operator (kubernetes-sigs/kueue)
        kueue=base.Queueing(framework=f"kubeflow.org/{kind.lower()}", shipped=False),
        groups=_groups("--gang-scheduler-name"),
        # `ReplicaIndexLabel` in `pkg/apis/kubeflow.org/v1/common_types.go` of the training operator
        pod_index=("metadata.labels['training.kubeflow.org/replica-index']",),
        trial=base.Trial(index=_FIRST),
        scaled=("spec", role_map, "Worker", "replicas") if scaled else (),
    )


_MASTER_WORKER = ("Master", "Worker")
TF_ROLES: Final = ("PS", "Worker", "Chief", "Master", "Evaluator")

_TFJOB = _training("TFJob", "tfReplicaSpecs", TF_ROLES, "tensorflow", old=_ALPHA)
TFJOB: Final = replace(
    _TFJOB, pod_env=training_env.of_tensorflow, trial=base.Trial(index=_FIRST, roles=("Chief", "Master", "Worker"))
)
_PYTORCHJOB = _training(
    "PyTorchJob",
    "pytorchReplicaSpecs",
    _MASTER_WORKER,
    "pytorch",
    old=_ALPHA,
    scaled=True,
    largest=("spec", "elasticPolicy", "maxReplicas"),
)
PYTORCHJOB: Final = replace(_PYTORCHJOB, pod_env=training_env.of_pytorch, added_containers=training_env.beside_pytorch)
_XGBOOSTJOB = _training(
    "XGBoostJob", "xgbReplicaSpecs", _MASTER_WORKER, "xgboost", old=("xgboostjob.kubeflow.org/v1alpha1",)
)
XGBOOSTJOB: Final = replace(_XGBOOSTJOB, pod_env=training_env.of_xgboost)
_PADDLEJOB = _training("PaddleJob", "paddleReplicaSpecs", _MASTER_WORKER, "paddle", scaled=True)
PADDLEJOB: Final = replace(_PADDLEJOB, pod_env=training_env.of_paddle)
_JAXJOB = _training("JAXJob", "jaxReplicaSpecs", ("Worker",), "jax", scaled=True)
JAXJOB: Final = replace(_JAXJOB, pod_env=training_env.of_jax)
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
        base.Derived(suffix="-config", kinds=("ConfigMap",)),
        base.Derived(suffix="-ssh", kinds=("Secret",)),
        base.Derived(suffix="-launcher", kinds=("Job", "Pod")),
        base.Derived(suffix="-worker", kinds=("Service",)),
    ),
    old=("kubeflow.org/v1alpha1", "kubeflow.org/v1alpha2"),
)
MPIJOB: Final = replace(
    _MPIJOB,
    pod_env=training_env.of_mpi,
    added_containers=training_env.beside_mpi,
    kueue=base.Queueing(framework="kubeflow.org/mpijob", versions=(V2,)),
    groups=(*_groups("--gang-scheduling", V2), *_groups("--gang-scheduler-name", V1)),
)
