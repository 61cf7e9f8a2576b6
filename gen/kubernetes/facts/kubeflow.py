"""Training operator v1 (`kubeflow.org/v1`) and MPI operator (`kubeflow.org/v2beta1`), with the variables that they add
to pods.

Kinds are from `pkg/apis/kubeflow.org/v1` of kubeflow/trainer 1.9 and `pkg/apis/kubeflow/v2beta1` of
kubeflow/mpi-operator 0.8. Variables and init containers are from
`pkg/controller.v1/{pytorch,tensorflow,xgboost,paddlepaddle,jax,mpi}` of kubeflow/training-operator 1.9, and
`pkg/controller/mpi_job_controller.go` of kubeflow/mpi-operator 0.7.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, get_args

from msgspec.structs import replace

from gen.base import as_mapping, at
from gen.kubernetes.facts import base
from gen.kubernetes.facts.argo import CRON_WORKFLOW
from gen.kubernetes.facts.base import PodOf
from gen.kubernetes.objects import Body

_MASTER: Final = "Master"
_WORKER: Final = "Worker"
_LAUNCHER: Final = "Launcher"
_V1: Final = "kubeflow.org/v1"
_UNBUFFERED: Final = {"name": "PYTHONUNBUFFERED", "value": "1"}


def _env(values: Mapping[str, object]) -> list[Body]:
    return [{"name": name, "value": str(value)} for name, value in values.items()]


def _roles(body: Body, field: str) -> dict[str, Any]:
    return as_mapping(at(body, "spec", field))


def _counts(roles: Mapping[str, object]) -> dict[str, int]:
    counts = {name: at(one, "replicas") for name, one in roles.items()}
    return {name: count if isinstance(count, int) else 1 for name, count in counts.items()}


def _port(role: object, container: str, name: str, default: int) -> int:
    """The port of the operator's name; the operator adds it if there is none."""
    for one in at(role, "template", "spec", "containers") or ():
        for port in one.get("ports") or () if one.get("name") == container else ():
            if port.get("name") == name:
                return int(port["containerPort"])
    return default


def _of_containers(made: Callable[[PodOf], list[Body]]) -> Callable[[PodOf], list[Body]]:
    """Variables that init containers do not get."""
    return lambda pod: [] if pod.init else made(pod)


TORCH_PORT: Final = ("pytorchjob-port", 23456)
TENSORFLOW_PORT: Final = ("tfjob-port", 2222)
XGBOOST_PORT: Final = ("xgboostjob-port", 9999)
PADDLE_PORT: Final = ("master", 36543)
JAX_PORT: Final = ("jaxjob-port", 6666)
"""Names and defaults of ports of the training container."""


@_of_containers
def of_pytorch(pod: PodOf) -> list[Body]:
    roles, name = _roles(pod.body, "pytorchReplicaSpecs"), at(pod.body, "metadata", "name")
    total, processes = sum(_counts(roles).values()), at(pod.body, "spec", "nprocPerNode")
    elastic = at(pod.body, "spec", "elasticPolicy")
    made = [_UNBUFFERED]
    if _MASTER in roles:
        port = _port(roles[_MASTER], "pytorch", *TORCH_PORT)
        rank = pod.index + (pod.role == _WORKER)
        size = total * (int(processes) if str(processes).isdecimal() else 1)
        address = f"{name}-master-0"
        made += _env({"MASTER_PORT": port, "PET_MASTER_PORT": port, "MASTER_ADDR": address, "PET_MASTER_ADDR": address})
        made += _env({"WORLD_SIZE": size, "RANK": rank, "PET_NODE_RANK": rank})
    if processes is not None or at(elastic, "nProcPerNode") is None:
        made += _env({"PET_NPROC_PER_NODE": processes if processes is not None else "auto"})
    if not isinstance(elastic, dict):
        return made + _env({"PET_NNODES": total})
    workers = _counts(roles).get(_WORKER, 1)
    least, most = elastic.get("minReplicas"), elastic.get("maxReplicas")
    host = elastic.get("rdzvHost") or f"{name}-worker-0"
    port = elastic.get("rdzvPort") or _port(roles.get(_WORKER), "pytorch", *TORCH_PORT)
    made += _env({"PET_RDZV_ENDPOINT": f"{host}:{port}", "PET_RDZV_BACKEND": elastic.get("rdzvBackend") or "c10d"})
    made += _env({"PET_NNODES": f"{workers if least is None else least}:{workers if most is None else most}"})
    optional = {"PET_MAX_RESTARTS": "maxRestarts", "PET_NPROC_PER_NODE": "nProcPerNode", "PET_RDZV_ID": "rdzvId"}
    made += _env({key: elastic[field] for key, field in optional.items() if elastic.get(field) is not None})
    if conf := elastic.get("rdzvConf"):
        made += _env({"PET_RDZV_CONF": ",".join(f"{one['key']}={one['value']}" for one in conf)})
    return made + _env({"PET_STANDALONE": ""} if elastic.get("standalone") else {})


@_of_containers
def of_tensorflow(pod: PodOf) -> list[Body]:
    roles = _roles(pod.body, "tfReplicaSpecs")
    counts = _counts(roles)
    if pod.container.get("name") != "tensorflow" or sum(counts.values()) == 1:
        return []
    name, namespace = (at(pod.body, "metadata", part) or "" for part in ("name", "namespace"))
    hosts: dict[str, Any] = {}
    for key in sorted(roles, key=str.lower):
        port = _port(roles[key], "tensorflow", *TENSORFLOW_PORT)
        hosts[key.lower()] = [f"{name}-{key.lower()}-{one}.{namespace}.svc:{port}" for one in range(counts[key])]
    config: dict[str, Any] = {
        "cluster": hosts,
        "task": {"type": pod.role.lower(), "index": pod.index},
        "environment": "cloud",
    }
    if at(pod.body, "spec", "enableDynamicWorker"):
        own = hosts.get(pod.role.lower(), [])[pod.index]
        servers = [own] if pod.role == "PS" else hosts.get("ps") if pod.role == _WORKER else []
        config = {
            "cluster": {"worker": {str(pod.index): own} if pod.role == _WORKER else {}, "ps": servers},
            "task": config["task"],
        }
    return _env({"TF_CONFIG": json.dumps(config, separators=(",", ":"))})


@_of_containers
def of_xgboost(pod: PodOf) -> list[Body]:
    roles, name = _roles(pod.body, "xgbReplicaSpecs"), at(pod.body, "metadata", "name")
    counts = _counts(roles)
    total, named = sum(counts.values()), ("xgboost", *XGBOOST_PORT)
    rank = pod.index + (counts.get(_MASTER, 1) if pod.role == _WORKER else 0)
    made = _env({"MASTER_PORT": _port(roles.get(_MASTER), *named), "MASTER_ADDR": f"{name}-master-0"})
    made += [*_env({"WORLD_SIZE": total, "RANK": rank}), _UNBUFFERED]
    if total == 1:
        return made
    addresses = ",".join(f"{name}-worker-{one}" for one in range(total - 1))
    return made + _env({"WORKER_PORT": _port(roles.get(_WORKER), *named), "WORKER_ADDRS": addresses})


@_of_containers
def of_paddle(pod: PodOf) -> list[Body]:
    roles, name = _roles(pod.body, "paddleReplicaSpecs"), at(pod.body, "metadata", "name")
    first = _MASTER if _MASTER in roles else _WORKER
    port = _port(roles.get(first), "paddle", *PADDLE_PORT)
    made = [_UNBUFFERED, *_env({"PADDLE_JOB_ID": name, "PADDLE_NNODES": sum(_counts(roles).values())})]
    if pod.index == 0 and pod.role == first:
        made.append({"name": "POD_IP_DUMMY", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}})
        made += _env({"PADDLE_MASTER": f"$(POD_IP_DUMMY):{port}"})
    else:
        made += _env({"PADDLE_MASTER": f"{name}-{first.lower()}-0:{port}"})
    if first == _MASTER:
        made += _env({"PADDLE_SERVER_NUM" if pod.role == _MASTER else "PADDLE_TRAINER_NUM": "1"})
    return made


@_of_containers
def of_jax(pod: PodOf) -> list[Body]:
    roles, name = _roles(pod.body, "jaxReplicaSpecs"), at(pod.body, "metadata", "name")
    port = _port(roles.get(_WORKER), "jax", *JAX_PORT)
    values = {"COORDINATOR_PORT": port, "COORDINATOR_ADDRESS": f"{name}-worker-0"}
    return [_UNBUFFERED, *_env({**values, "NUM_PROCESSES": sum(_counts(roles).values()), "PROCESS_ID": pod.index})]


_MPI: Final = "/etc/mpi"
KUBEXEC: Final = f"{_MPI}/kubexec.sh"
"""The program of v1 that connects to a worker; v2beta1 has ssh instead."""
_CONNECT: Final = "-o ConnectionAttempts=10"
_WITHOUT_DEVICES: Final = _env({"NVIDIA_VISIBLE_DEVICES": "", "NVIDIA_DRIVER_CAPABILITIES": ""})


def of_mpi(pod: PodOf) -> list[Body]:
    """Only the first container gets variables; a launcher that does not train must not see the devices of its node."""
    if not pod.first:
        return []
    return _of_mpi_v1(pod) if pod.body.get("apiVersion") == _V1 else _of_mpi_v2(pod)


def _of_mpi_v1(pod: PodOf) -> list[Body]:
    if pod.role != _LAUNCHER:
        return []
    known = {one.get("name") for one in pod.container.get("env") or ()}
    defaults = {"I_MPI_HYDRA_BOOTSTRAP": "rsh", "I_MPI_HYDRA_BOOTSTRAP_EXEC": KUBEXEC}
    containers = at(pod.body, "spec", "mpiReplicaSpecs", _LAUNCHER, "template", "spec", "containers") or ()
    devices = any("gpu" in name for one in containers for name in at(one, "resources", "limits") or ())
    return [
        *_env({"OMPI_MCA_plm_rsh_agent": KUBEXEC, "OMPI_MCA_orte_default_hostfile": f"{_MPI}/hostfile"}),
        *(() if devices else _WITHOUT_DEVICES),
        *_env({name: value for name, value in defaults.items() if name not in known}),
    ]


def _of_mpi_v2(pod: PodOf) -> list[Body]:
    made = _env({"K_MPI_JOB_ROLE": pod.role.lower()})
    if pod.role != _LAUNCHER:
        return made
    spec = pod.body["spec"]
    slots, hosts = spec.get("slotsPerWorker") or 1, f"{_MPI}/hostfile"
    of_implementation: Mapping[str, Mapping[str, object]] = {
        "OpenMPI": {
            "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
            "OMPI_MCA_orte_default_hostfile": hosts,
            "OMPI_MCA_plm_rsh_args": _CONNECT,
            "OMPI_MCA_orte_set_default_slots": slots,
        },
        "Intel": {
            "I_MPI_HYDRA_HOST_FILE": hosts,
            "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS": _CONNECT,
            "I_MPI_PERHOST": slots,
        },
        "MPICH": {"HYDRA_HOST_FILE": hosts, "HYDRA_LAUNCH_EXTRA_ARGS": _CONNECT},
    }
    made += _env(of_implementation.get(str(spec.get("mpiImplementation") or "OpenMPI"), {}))
    return made if spec.get("runLauncherAsWorker") is True else made + _WITHOUT_DEVICES


def beside_pytorch(body: Body, role: str) -> Mapping[str, list[Body]]:
    """Workers wait for the master (`pkg/controller.v1/pytorch/initcontainer.go`). The operator has options for it."""
    if role != _WORKER or _MASTER not in _roles(body, "pytorchReplicaSpecs"):
        return {}
    resources = {"limits": {"cpu": "100m", "memory": "20Mi"}, "requests": {"cpu": "50m", "memory": "10Mi"}}
    return {"initContainers": [{"name": "init-pytorch", "image": "alpine:3.10", "resources": resources}]}


def beside_mpi(body: Body, role: str) -> Mapping[str, list[Body]]:
    """The launcher of v1 gets `kubectl` (`newLauncher` in `pkg/controller.v1/mpi/mpijob_controller.go`)."""
    if role != _LAUNCHER or body.get("apiVersion") != _V1:
        return {}
    amounts = {"cpu": "100m", "memory": "512Mi", "ephemeral-storage": "5Gi"}
    container = {
        "name": "kubectl-delivery",
        "image": "ghcr.io/kubeflow/training-v1/kubectl-delivery:latest",
        "env": _env({"TARGET_DIR": "/opt/kube", "NAMESPACE": at(body, "metadata", "namespace") or "default"}),
        "resources": {"limits": amounts, "requests": amounts},
    }
    return {"initContainers": [container]}


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
            settings={"queue": (*policy, "queue"), "priorityClass": (*policy, "priorityClass"), "minAvailable": size},
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


TRAINING_OPERATOR: Final = "kubeflow.org/training-operator"
MPI_OPERATOR: Final = "kubeflow.org/mpi-operator"
"""The operators, as `managedBy` names them."""


def _training(
    kind: str,
    role_map: str,
    roles: tuple[str, ...],
    container: str,
    *,
    versions: dict[str, tuple[str, ...]] | None = None,
    old: tuple[str, ...] = (),
    derived: tuple[base.DerivedName, ...] = (),
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
        default_restarts={V1: dict.fromkeys(roles, "Never")},  # `pkg/apis/kubeflow.org/v1/*_defaults.go`
        indices=("training.kubeflow.org/replica-index",),  # `pkg/apis` of both operators, `common_types.go`
        run_labels={"training.kubeflow.org/job-name": 0},
        container=container,
        is_run=True,
        suspend=(*_POLICY, "suspend"),
        deadline=(*_POLICY, "activeDeadlineSeconds"),
        retries=(*_POLICY, "backoffLimit"),
        ttl=(*_POLICY, "ttlSecondsAfterFinished"),
        defaults={(*_POLICY, "managedBy"): MPI_OPERATOR if versions else TRAINING_OPERATOR, _POLICY: {}},
        # of the PodGroup that it makes for Volcano
        implied={(*_POLICY, "schedulingPolicy"): {}, (*_POLICY, "schedulingPolicy", "queue"): "default"},
        cleanup=(*_POLICY, "cleanPodPolicy"),
        status=_STATUS,
        # after success and failure, in one update with the condition (`pkg/controller.v1` of the training operator)
        awaited=base.EndCondition(ended=("status", "completionTime")),
        scheduled_by=CRON_WORKFLOW,
        derived=(
            *derived,
            # each pod and its headless Service
            base.DerivedName(
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
    _TFJOB, pod_env=of_tensorflow, trial=base.Trial(index=_FIRST, roles=("Chief", "Master", "Worker"))
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
_ON_FAILURE = {V1: dict.fromkeys(_MASTER_WORKER, "OnFailure")}
PYTORCHJOB: Final = replace(
    _PYTORCHJOB, pod_env=of_pytorch, added_containers=beside_pytorch, default_restarts=_ON_FAILURE
)
_XGBOOSTJOB = _training(
    "XGBoostJob", "xgbReplicaSpecs", _MASTER_WORKER, "xgboost", old=("xgboostjob.kubeflow.org/v1alpha1",)
)
XGBOOSTJOB: Final = replace(_XGBOOSTJOB, pod_env=of_xgboost)
_PADDLEJOB = _training("PaddleJob", "paddleReplicaSpecs", _MASTER_WORKER, "paddle", scaled=True)
PADDLEJOB: Final = replace(_PADDLEJOB, pod_env=of_paddle, default_restarts=_ON_FAILURE)
_JAXJOB = _training("JAXJob", "jaxReplicaSpecs", ("Worker",), "jax", scaled=True)
JAXJOB: Final = replace(_JAXJOB, pod_env=of_jax)
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
        base.DerivedName(suffix="-config", kinds=("ConfigMap",)),
        base.DerivedName(suffix="-ssh", kinds=("Secret",)),
        base.DerivedName(suffix="-launcher", kinds=("Job", "Pod")),
        base.DerivedName(suffix="-worker", kinds=("Service",)),
    ),
    old=("kubeflow.org/v1alpha1", "kubeflow.org/v1alpha2"),
)
MPIJOB: Final = replace(
    _MPIJOB,
    pod_env=of_mpi,
    added_containers=beside_mpi,
    # `pkg/apis/kubeflow/v2beta1/default.go` of the MPI operator
    default_restarts={V2: {_LAUNCHER: "OnFailure"}, V1: {_LAUNCHER: "Never"}},
    # of its definition; gen writes another policy of the creation
    defaults={
        **_MPIJOB.defaults,
        ("spec", "launcherCreationPolicy"): "AtStartup",
        ("spec", "mpiImplementation"): "OpenMPI",
        ("spec", "runLauncherAsWorker"): False,
        ("spec", "sshAuthMountPath"): "/root/.ssh",
    },
    implied={**_MPIJOB.implied, ("spec", "slotsPerWorker"): 1},
    kueue=base.Queueing(framework="kubeflow.org/mpijob", versions=(V2,)),
    # `mpi_job_controller.go` of both operators: containers that wait for the hosts of the launcher mount them
    added_volumes=("mpi-job-config", "mpi-job-kubectl", "ssh-auth"),
    groups=(*_groups("--gang-scheduling", V2), *_groups("--gang-scheduler-name", V1)),
)
