"""KubeRay (`ray.io/v1`), from `ray-operator/apis/ray/v1` of ray-project/kuberay 1.7.

The TTL of a RayJob deletes its cluster and keeps the RayJob itself.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Final

from gen.base import as_mapping, at
from gen.kubernetes import quantity
from gen.kubernetes.facts import base
from gen.kubernetes.facts.argo import CRON_WORKFLOW
from gen.kubernetes.facts.volcano import QUEUE_LABEL
from gen.kubernetes.objects import Body

_VERSIONS: dict[str, tuple[str, ...]] = {"ray.io/v1": ("Never", "OnFailure", "Always")}
_RETIRED = base.retired("ray.io/v1", "ray.io/v1alpha1", removed=False)
HEAD: Final = "head"
KUBERAY: Final = "ray.io/kuberay-operator"
"""The operator, as `managedBy` names it."""
CLUSTER_TTL: Final = ("spec", "ttlSecondsAfterFinished")
"""Route of the time for which the cluster of a RayJob stays after its end."""
SUBMISSION_MODES: Final = ("K8sJobMode", "HTTPMode", "SidecarMode", "InteractiveMode")
_TOKENS = ("ray-token",)
"""With `authOptions`, the operator mounts tokens of service accounts (`controllers/ray/common/pod.go`)."""
_LABELS = ("metadata", "labels")
# `controllers/ray/batchscheduler/volcano`: the group has the head and all workers, but not the submitter
_VOLCANO = base.Group(
    scheduler="volcano",
    settings={"queue": (*_LABELS, QUEUE_LABEL), "priorityClass": (*_LABELS, "ray.io/priority-class-name")},
    option="--batch-scheduler=volcano",
)
_DEPLOYMENT_STATUS = ("status", "jobDeploymentStatus")
# `jobStatus` is FAILED before the submitter ends, and while the operator removes the cluster for another attempt
# (`checkBackoffLimitAndUpdateStatusIfNeeded` in `controllers/ray/rayjob_controller.go`); a stopped job is Complete
_FAILED = (
    base.Phase(field=_DEPLOYMENT_STATUS, values=("Failed", "ValidationFailed")),
    base.Phase(field=("status", "jobStatus"), values=("STOPPED",)),
)


_RANDOM: Final = "xxxxx"
SUBMITTER: Final = "submitter"
_SPECS: Final = {"RayJob": "rayClusterSpec", "RayService": "rayClusterConfig"}


def _spec(body: Body) -> Body:
    """The fields of the cluster."""
    holder = _SPECS.get(str(body.get("kind")))
    return as_mapping(at(body, "spec", holder) if holder is not None else body.get("spec"))


def _cluster_name(body: Body) -> str:
    run = str(at(body, "metadata", "name"))
    return f"{run}-{_RANDOM}" if body.get("kind") in _SPECS else run


def _pod_name(body: Body, role: str) -> str:
    """The operator keeps 50 characters of the name of the cluster and the group (`PodName`)."""
    name = _cluster_name(body)
    kept = name[:50] + "-head" if role == HEAD else f"{name}-{role}"[:50] + "-worker"
    return f"{kept.lower()}-{{random}}"


def _cluster(*spec: str) -> tuple[base.PodSet, ...]:
    """One head, and groups of workers. Each replica of a group has one pod on each of `numOfHosts` hosts."""
    group: base.Pattern = (*spec, "workerGroupSpecs", base.ANY_ITEM)
    replicas = base.Count(route=(*group, "replicas"), default=0, largest=(*group, "maxReplicas"))
    workers = replicas, base.Count(route=(*group, "numOfHosts"), hosts=True)
    return (
        base.PodSet(template=(*spec, "headGroupSpec", "template"), role=HEAD, pod_name=_pod_name),
        base.PodSet(template=(*group, "template"), counts=workers, item_name="groupName", pod_name=_pod_name),
    )


def _marks(*spec: str) -> tuple[base.Pattern, ...]:
    return ((*spec, "workerGroupSpecs", base.ANY_ITEM, "template", "metadata"),)


def _filled(*spec: str) -> tuple[base.FilledField, ...]:
    """The list of groups is atomic. The operator writes the whole object, with the fields that its types always have
    (`controllers/ray/rayjob_controller.go`), and the definition of KubeRay 1.7 has the other default.
    """
    group: base.Pattern = (*spec, "workerGroupSpecs", base.ANY_ITEM)
    return (
        base.FilledField(place=group, field=("scaleStrategy",), value={}),
        base.FilledField(place=group, field=("priority",), value=0, in_all=False),
    )


def _fixed_replicas(body: Body, group: Body) -> object:
    """The bound of the number of workers that changes nothing: only the autoscaler has any."""
    return None if at(body, "spec", "rayClusterSpec", "enableInTreeAutoscaling") else group.get("replicas")


_PORT: Final = "6379"
_VERSION: Final = "v1.7.0"
"""The version of the operator (`KUBERAY_VERSION`)."""
_NAMED: Final = {
    "RAY_CLUSTER_NAME": "metadata.labels['ray.io/cluster']",
    "RAY_CLUSTER_NAMESPACE": "metadata.namespace",
    "RAY_CLOUD_INSTANCE_ID": "metadata.name",
    "RAY_NODE_TYPE_NAME": "metadata.labels['ray.io/group']",
}
_DEVICES: Final = {"aws.amazon.com/neuroncore": "neuron_cores", "google.com/tpu": "TPU"}
_SWITCHES: Final = ("log-color", "include-dashboard", "include-log-monitor")
"""Parameters of `ray start` that can be `false`; others are then left out."""


def _env(values: Mapping[str, object]) -> list[Body]:
    return [{"name": name, "value": str(value)} for name, value in values.items()]


def _from_fields(fields: Mapping[str, str]) -> list[Body]:
    return [{"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}} for name, path in fields.items()]


def _address(body: Body) -> str:
    """The host name of the head."""
    return f"{_cluster_name(body)}-head-svc.{at(body, 'metadata', 'namespace') or 'default'}.svc.cluster.local"


def _ray_env(pod: base.PodOf) -> list[Body]:
    """From `setContainerEnvVars` and `setInitContainerEnvVars` in `controllers/ray/common/pod.go`, and
    `configureSubmitterContainer` in `controllers/ray/rayjob_controller.go`.
    """
    address, spec, known = (
        _address(pod.body),
        _spec(pod.body),
        {at(one, "name") for one in pod.container.get("env") or ()},
    )
    if pod.role == SUBMITTER:
        return _submitting(pod.body, f"{address}:8265") if pod.first else []
    reached = _env({"FQ_RAY_IP": address, "RAY_IP": address.partition(".")[0]})
    if pod.init:
        return reached
    if not pod.first:
        return []
    head = pod.role == HEAD
    port = str(at(spec, "headGroupSpec", "rayStartParams", "port") or _PORT)
    made = [*(() if head else reached), *_from_fields(_NAMED)]
    made += _env({"KUBERAY_GEN_RAY_START_CMD": _start_command(spec, pod, f"{address}:{port}")})
    kept = {"RAY_PORT": port, "RAY_ADDRESS": f"{'127.0.0.1' if head else address}:{port}"}
    kept |= {"RAY_USAGE_STATS_KUBERAY_IN_USE": "1", "RAY_DASHBOARD_ENABLE_K8S_DISK_USAGE": "1"}
    made += _env({name: value for name, value in kept.items() if name not in known})
    if head:
        made += _env({"RAY_USAGE_STATS_EXTRA_TAGS": f"kuberay_version={_VERSION};kuberay_crd={pod.body.get('kind')}"})
    version = at(spec, "autoscalerOptions", "version") if head and spec.get("enableInTreeAutoscaling") else None
    return made + (_env({"RAY_enable_autoscaler_v2": str(version == "v2").lower()}) if version else [])


def _submitting(body: Body, dashboard: str) -> list[Body]:
    identity = f"{at(body, 'metadata', 'name')}-{_RANDOM}"
    return _env({"PYTHONUNBUFFERED": "1", "RAY_DASHBOARD_ADDRESS": dashboard, "RAY_JOB_SUBMISSION_ID": identity})


def _start_command(spec: Body, pod: base.PodOf, address: str) -> str:
    """From `generateRayStartCommand` and `setMissingRayStartParams` in `controllers/ray/common/pod.go`."""
    head = pod.role == HEAD
    groups = [spec.get("headGroupSpec")] if head else spec.get("workerGroupSpecs") or []
    group: object = next((one for one in groups if head or at(one, "groupName") == pod.role), {})
    defaults = {"dashboard-host": "0.0.0.0"} if head else {"address": address}  # noqa: S104 - of pods
    defaults |= {"metrics-export-port": "8080", "dashboard-agent-listen-port": "52365"}
    own = {**defaults, **(at(group, "rayStartParams") or {}), "block": "true"}
    if head and spec.get("enableInTreeAutoscaling") is True:
        own["no-monitor"] = "true"
    requests, limits = (at(pod.container, "resources", name) or {} for name in ("requests", "limits"))
    graphics = next((amount for name, amount in sorted(limits.items()) if name.endswith("gpu")), None)
    asked = {"num-cpus": limits.get("cpu") or requests.get("cpu"), "memory": limits.get("memory"), "num-gpus": graphics}
    found = {name: math.ceil(quantity.amount(str(amount))) for name, amount in asked.items() if amount}
    own = {**{name: str(amount) for name, amount in found.items() if amount}, **own}
    others = {_DEVICES[name]: amount for name, amount in limits.items() if name in _DEVICES}
    if others and "resources" not in own:
        amounts = {name: int(quantity.amount(str(amount))) for name, amount in others.items()}
        own["resources"] = f"'{json.dumps(amounts, separators=(',', ':'))}'"
    return f"ray start {'--head ' if head else ''}{''.join(_parameter(*one) for one in sorted(own.items()))}"


def _parameter(name: str, value: str) -> str:
    if value.lower() in ("true", "false") and name not in _SWITCHES:
        return f" --{name} " if value.lower() == "true" else ""
    return f" --{name}={value} "


_AUTOSCALER: Final = (
    "ray kuberay-autoscaler --cluster-name $(RAY_CLUSTER_NAME) --cluster-namespace $(RAY_CLUSTER_NAMESPACE)"
)


def _resources(limits: Mapping[str, str], requests: Mapping[str, str]) -> Body:
    return {"limits": dict(limits), "requests": dict(requests)}


_SMALL: Final = {"cpu": "200m", "memory": "256Mi"}
_OF_AUTOSCALER: Final = {"cpu": "500m", "memory": "512Mi"}
_OF_SUBMITTER: Final = {"cpu": "1", "memory": "1Gi"}, {"cpu": "500m", "memory": "200Mi"}


def _added_containers(body: Body, role: str) -> Mapping[str, list[Body]]:
    """The autoscaler and the submitter in the pod of the head, and the init container with which workers wait for it
    (`controllers/ray/common/pod.go`, `job.go`).
    """
    spec = _spec(body)
    head = (at(spec, "headGroupSpec", "template", "spec", "containers") or [{}])[0]
    if role == HEAD:
        scales = spec.get("enableInTreeAutoscaling") is True
        beside = at(body, "spec", "submissionMode") == "SidecarMode"
        submitter = {
            "name": "ray-job-submitter",
            "image": head.get("image"),
            "env": _submitting(body, ""),
            "resources": _resources(*_OF_SUBMITTER),
        }
        return {"containers": [*([submitter] if beside else ()), *([_autoscaler(head, spec)] if scales else ())]}
    if role == SUBMITTER:
        return {}
    groups = [one for one in spec.get("workerGroupSpecs") or () if at(one, "groupName") == role]
    found = at(groups[0], "template", "spec", "containers") if groups else None
    first: Body = next(iter(found or ()), {})
    address = _address(body)
    reached = _env({"FQ_RAY_IP": address, "RAY_IP": address.partition(".")[0]})
    wait = {"name": "wait-gcs-ready", "image": first.get("image"), "env": [*(first.get("env") or ()), *reached]}
    return {"initContainers": [{**wait, "resources": _resources(_SMALL, _SMALL)}]}


def _autoscaler(head: Body, spec: Body) -> Body:
    fields = {name: _NAMED[name] for name in ("RAY_CLUSTER_NAME", "RAY_CLUSTER_NAMESPACE")}
    env = _from_fields({**fields, "RAY_HEAD_POD_NAME": "metadata.name"})
    env += _env({"KUBERAY_CRD_VER": "v1", "KUBERAY_GEN_AUTOSCALER_START_CMD": _AUTOSCALER})
    options = spec.get("autoscalerOptions") or {}
    return {
        "name": "autoscaler",
        "image": options.get("image") or head.get("image"),
        "env": [*env, *(options.get("env") or ())],
        "resources": options.get("resources") or _resources(_OF_AUTOSCALER, _OF_AUTOSCALER),
    }


RAYJOB: Final = base.Resource(
    group="ray.io",
    kind="RayJob",
    versions=_VERSIONS,
    retired=_RETIRED,
    pods=(*_cluster("spec", "rayClusterSpec"), base.PodSet(template=("spec", "submitterPodTemplate"), role=SUBMITTER)),
    pod_env=_ray_env,
    added_containers=_added_containers,
    # the cluster has the name of the RayJob and five more characters (`GenerateRayClusterName`, `labelPod`)
    run_labels={"ray.io/cluster": len("-12345")},
    is_run=True,
    suspend=("spec", "suspend"),
    deadline=("spec", "activeDeadlineSeconds"),
    retries=("spec", "backoffLimit"),
    # each attempt has a start time of its own (`initRayJobStatusIfNeed` in `rayjob_controller.go` of KubeRay)
    limits_attempt=True,
    kept=CLUSTER_TTL,
    defaults={
        ("spec", "backoffLimit"): 0,
        ("spec", "managedBy"): KUBERAY,
        CLUSTER_TTL: 0,
    },
    implied={
        ("spec", "jobId"): "",
        ("spec", "rayClusterSpec", "headGroupSpec", "serviceType"): "ClusterIP",
        **dict.fromkeys(
            (
                ("spec", "rayClusterSpec", "workerGroupSpecs", base.ANY_ITEM, name)
                for name in ("minReplicas", "maxReplicas")
            ),
            _fixed_replicas,
        ),
    },
    status=base.Phases(
        succeeded=(base.Phase(field=_DEPLOYMENT_STATUS, values=("Complete",)),),
        failed=_FAILED,
        suspended=(base.Phase(field=_DEPLOYMENT_STATUS, values=("Suspended",)),),
    ),
    awaited=base.EndCondition(
        succeeded=(
            base.Phase(field=_DEPLOYMENT_STATUS, values=("Complete",)),
            base.Phase(field=("status", "jobStatus"), values=("SUCCEEDED",)),
        ),
        failed=_FAILED,
    ),
    scheduled_by=CRON_WORKFLOW,
    kueue=base.Queueing(framework="ray.io/rayjob", elastic=True, marks=_marks("spec", "rayClusterSpec")),
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
    pod_env=_ray_env,
    added_containers=_added_containers,
    suspend=("spec", "suspend"),
    kueue=base.Queueing(framework="ray.io/raycluster", marks=_marks("spec")),
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
    pod_env=_ray_env,
    added_containers=_added_containers,
    elastic=True,
    added_volumes=_TOKENS,
)
