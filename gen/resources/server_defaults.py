"""Defaults that an API server sets in objects before it asks admission policies.

From `pkg/apis/core/v1/defaults.go`, `pkg/apis/apps/v1/defaults.go`, `pkg/apis/batch/v1/defaults.go` and the fields
without `omitempty` of `k8s.io/api`, which an object always has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gen.quantity import canonical
from gen.resources.pod_defaults import each_of, over, pod_spec, quality

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.kubernetes import Body

_DEPLOYMENT: Final = {"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600}
_ROLLING_UPDATE: Final = {"maxUnavailable": "25%", "maxSurge": "25%"}
_JOB: Final = {
    "completionMode": "NonIndexed",
    "suspend": False,
    "podReplacementPolicy": "TerminatingOrFailed",
    "manualSelector": False,
}


_MAPS: Final = frozenset(
    {
        *("labels", "annotations", "matchLabels", "nodeSelector", "limits", "requests", "hard", "data", "stringData"),
        *("binaryData", "capacity", "parameters", "volumeAttributes", "options", "default", "defaultRequest", "min"),
        *("max", "maxLimitRequestRatio", "overhead", "selector"),
    }
)
"""Mappings of texts, which an object does not have if they are empty."""
_QUANTITIES: Final = frozenset({"limits", "requests", "hard", "capacity", "overhead", "default", "defaultRequest"})
_FALSE: Final = frozenset(
    {
        *("hostNetwork", "hostPID", "hostIPC", "stdin", "stdinOnce", "tty", "readOnly", "paused", "unschedulable"),
        *("publishNotReadyAddresses", "isCABundle", "recursiveReadOnly"),
    }
)
_ZERO: Final = frozenset({"hostPort", "nodePort", "minReadySeconds", "initialDelaySeconds", "generation"})
"""Fields that an object does not have if they are false or zero: they are no pointers in `k8s.io/api`."""
_EMPTY_TEXT: Final = frozenset({"storageClassName", "type"})
"""Texts that an object keeps if they are empty."""


def as_stored(body: Body) -> Body:
    """An object with the defaults of the server, and without empty fields.

    Kinds that are not built in are as they are written.
    """
    group = str(body.get("apiVersion", "")).rpartition("/")[0]
    if "." in group and not group.endswith(".k8s.io"):
        return body
    found: Body = _pruned(body)
    defaults = _KINDS.get((body.get("apiVersion"), body.get("kind")))
    return defaults(found) if defaults is not None else found


def _pruned(value: Any) -> Any:
    if isinstance(value, list):
        return [_pruned(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _text_map(key, inner) if key in _MAPS else _pruned(inner) for key, inner in value.items()}
    return {key: inner for key, inner in kept.items() if not _is_omitted(key, inner)}


def _text_map(key: str, value: Any) -> Any:
    """The entries of a mapping of texts; quantities are in their canonical form."""
    if not isinstance(value, dict):
        return value
    if key not in _QUANTITIES:
        return _pruned(value) if key == "selector" else dict(value)
    return {name: _quantity(inner) for name, inner in value.items()}


def _quantity(value: Any) -> str:
    try:
        return canonical(str(value))
    except ValueError:
        return str(value)


def _is_omitted(key: str, value: Any) -> bool:
    if isinstance(value, bool):
        return not value and key in _FALSE
    if isinstance(value, int):
        return value == 0 and key in _ZERO
    if isinstance(value, str):
        return not value and key not in _EMPTY_TEXT
    return value is None or value == [] or (value == {} and key in _MAPS)


def _template(holder: Body, restart: str = "Always") -> Body:
    template = holder.get("template")
    if not isinstance(template, dict):
        return {}
    metadata = over(template.get("metadata"), {"creationTimestamp": None})
    return {"template": {**template, "metadata": metadata, "spec": pod_spec(template.get("spec"), restart)}}


def _with_spec(body: Body, spec: Body, status: Body | None = None) -> Body:
    return {**body, "spec": spec, "status": status if status is not None else {}}


def _of_pod(body: Body) -> Body:
    spec = {"enableServiceLinks": True, **pod_spec(body.get("spec"))}
    status = {"phase": "Pending", "qosClass": quality(spec)}
    return _with_spec(body, spec, status)


def _of_deployment(body: Body) -> Body:
    spec = over(body.get("spec"), {**_DEPLOYMENT})
    strategy = spec.get("strategy")
    spec["strategy"] = (
        _rolling(strategy) if not strategy or strategy.get("type") in {None, "RollingUpdate"} else strategy
    )
    return _with_spec(body, {**spec, **_template(spec)})


def _rolling(strategy: Any) -> Body:
    found = over(strategy, {"type": "RollingUpdate", "rollingUpdate": {}})
    return {**found, "rollingUpdate": over(found["rollingUpdate"], _ROLLING_UPDATE)}


def _of_stateful_set(body: Body) -> Body:
    spec = over(
        body.get("spec"),
        {
            "replicas": 1,
            "revisionHistoryLimit": 10,
            "podManagementPolicy": "OrderedReady",
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
        },
    )
    return _with_spec(body, {**spec, **_template(spec)}, {"replicas": 0, "availableReplicas": 0})


def _of_daemon_set(body: Body) -> Body:
    update = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}
    spec = over(body.get("spec"), {"revisionHistoryLimit": 10, "updateStrategy": update})
    names = ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady")
    return _with_spec(body, {**spec, **_template(spec)}, dict.fromkeys(names, 0))


def _of_replica_set(body: Body) -> Body:
    spec = over(body.get("spec"), {"replicas": 1})
    return _with_spec(body, {**spec, **_template(spec)}, {"replicas": 0})


def _job_spec(given: Any) -> Body:
    spec = over(given, _JOB)
    if spec.get("parallelism") is None and spec.get("completions") is None:
        spec["completions"] = 1
    if spec.get("parallelism") is None:
        spec["parallelism"] = 1
    if spec["completionMode"] == "Indexed" and spec.get("backoffLimitPerIndex") is not None:
        spec.setdefault("backoffLimit", 2**31 - 1)
    spec.setdefault("backoffLimit", 6)
    if isinstance(spec.get("podFailurePolicy"), dict):
        spec["podReplacementPolicy"] = (given or {}).get("podReplacementPolicy") or "Failed"
    return {**spec, **_template(spec)}


def _of_job(body: Body) -> Body:
    return _with_spec(body, _job_spec(body.get("spec")))


def _of_cron_job(body: Body) -> Body:
    limits = {"successfulJobsHistoryLimit": 3, "failedJobsHistoryLimit": 1}
    spec = over(body.get("spec"), {"concurrencyPolicy": "Allow", "suspend": False, **limits})
    template = spec.get("jobTemplate")
    if isinstance(template, dict):
        job = over(template.get("spec"), {})
        metadata = over(template.get("metadata"), {"creationTimestamp": None})
        spec["jobTemplate"] = {**template, "metadata": metadata, "spec": {**job, **_template(job)}}
    return _with_spec(body, spec)


def _of_service(body: Body) -> Body:
    spec = over(body.get("spec"), {"type": "ClusterIP", "sessionAffinity": "None"})
    spec |= each_of(spec, "ports", lambda port: {"protocol": "TCP", "targetPort": port.get("port"), **port})
    if spec["type"] != "ExternalName":
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if spec["type"] in {"NodePort", "LoadBalancer"}:
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if spec["type"] == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
    return _with_spec(body, spec, {"loadBalancer": {}})


def _of_claim(body: Body) -> Body:
    spec = over(body.get("spec"), {"volumeMode": "Filesystem", "resources": {}})
    return _with_spec(body, spec, {"phase": "Pending"})


def _of_volume(body: Body) -> Body:
    defaults = {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"}
    return _with_spec(body, over(body.get("spec"), defaults), {"phase": "Pending"})


def _of_secret(body: Body) -> Body:
    return over(body, {"type": "Opaque"})


def _of_network_policy(body: Body) -> Body:
    spec = over(body.get("spec"), {"podSelector": {}})
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", *(["Egress"] if spec.get("egress") else [])]
    return {**body, "spec": spec}


_KINDS: Final[dict[tuple[Any, Any], Callable[[Body], Body]]] = {
    ("v1", "Pod"): _of_pod,
    ("v1", "Service"): _of_service,
    ("v1", "PersistentVolumeClaim"): _of_claim,
    ("v1", "PersistentVolume"): _of_volume,
    ("v1", "Secret"): _of_secret,
    ("apps/v1", "Deployment"): _of_deployment,
    ("apps/v1", "StatefulSet"): _of_stateful_set,
    ("apps/v1", "DaemonSet"): _of_daemon_set,
    ("apps/v1", "ReplicaSet"): _of_replica_set,
    ("batch/v1", "Job"): _of_job,
    ("batch/v1", "CronJob"): _of_cron_job,
    ("networking.k8s.io/v1", "NetworkPolicy"): _of_network_policy,
}
