"""Defaults that an API server sets in objects, pods and templates before it asks admission policies.

From `pkg/apis/core/v1/defaults.go`, `pkg/apis/apps/v1/defaults.go`, `pkg/apis/batch/v1/defaults.go` and the fields
without `omitempty` of `k8s.io/api`, which an object always has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from gen.base import at, regex
from gen.kubernetes.facts.base import ANY_ITEM, ANY_KEY, Pattern
from gen.kubernetes.objects import Body
from gen.kubernetes.quantity import canonical

GRACE_PERIOD_S: Final = 30
POD_DEFAULTS: Final = {
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "terminationGracePeriodSeconds": GRACE_PERIOD_S,
    "securityContext": {},
}
CONTAINER_DEFAULTS: Final = {
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_LABEL, _PART = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?", "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_HOST = rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[A-Fa-f0-9:]+\])(?::[0-9]+)?"
_LATEST = regex(rf"(?:{_HOST}/)?{_PART}(?:/{_PART})*(?::latest(?:@[A-Za-z0-9+._-]+:[0-9A-Fa-f]{{32,}})?)?")
"""An image with the tag `latest` or without a tag. Other texts have no tag for a server, also if they are no image
(`ParseImageName` of `pkg/util/parsers`)."""
_ID = regex("[a-f0-9]{64}")
_PROBE: Final = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_MODES: Final = {"configMap": 420, "secret": 420, "projected": 420, "downwardAPI": 420}


def over(given: object, defaults: Body) -> Body:
    """Given values over defaults."""
    return {**defaults, **given} if isinstance(given, dict) else dict(defaults)


def each_of(holder: Body, field: str, each: Callable[[Body], Body]) -> Body:
    """A list with its mappings changed; nothing if there is no list."""
    items = holder.get(field)
    if not isinstance(items, list):
        return {}
    return {field: [each(item) if isinstance(item, dict) else item for item in items]}


def pod_spec(spec: object, restart: str = "Always") -> Body:
    """The spec of a pod or of a template with the defaults that both get."""
    found = over(spec, {**POD_DEFAULTS, "restartPolicy": restart})
    for field in ("initContainers", "containers", "ephemeralContainers"):
        found |= each_of(found, field, _container)
    found |= each_of(found, "volumes", _volume)
    if found.get("serviceAccountName"):
        found.setdefault("serviceAccount", found["serviceAccountName"])
    return found


def _container(container: Body) -> Body:
    found = over(container, CONTAINER_DEFAULTS)
    image = str(found.get("image") or "")
    latest = _LATEST.fullmatch(image) is not None and _ID.fullmatch(image) is None
    found.setdefault("imagePullPolicy", "Always" if latest else "IfNotPresent")
    for field in ("livenessProbe", "readinessProbe", "startupProbe"):
        if isinstance(found.get(field), dict):
            found[field] = _probe(found[field])
    return found | each_of(found, "ports", lambda port: over(port, {"protocol": "TCP"}))


def _with_host_ports(container: Body) -> Body:
    ports = each_of(container, "ports", lambda port: {"hostPort": port.get("containerPort"), **port})
    return {**container, **ports}


def _resources(resources: object) -> Body:
    """Requests default to the limits."""
    found = dict(resources) if isinstance(resources, dict) else {}
    limits = found.get("limits")
    if isinstance(limits, dict):
        found["requests"] = over(found.get("requests"), limits)
    return found


def _probe(probe: Body) -> Body:
    found = over(probe, _PROBE)
    if isinstance(found.get("httpGet"), dict):
        found["httpGet"] = over(found["httpGet"], {"path": "/", "scheme": "HTTP"})
    return found


def _volume(volume: Body) -> Body:
    if len(volume) == 1:
        return {**volume, "emptyDir": {}}
    modes = {
        field: over(volume[field], {"defaultMode": mode})
        for field, mode in _MODES.items()
        if isinstance(volume.get(field), dict)
    }
    if isinstance(volume.get("hostPath"), dict):
        modes["hostPath"] = over(volume["hostPath"], {"type": ""})
    return {**volume, **modes}


def quality(spec: Body) -> str:
    """The class of a pod by its resources (`pkg/apis/core/helper/qos`)."""
    containers = [one for one in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())) if one]
    found = [over(one.get("resources"), {}) for one in containers if isinstance(one, dict)]
    if not any(at(one, part, name) for one in found for part in one for name in ("cpu", "memory")):
        return "BestEffort"
    limited = all(
        at(one, "limits", name) and at(one, "limits", name) == at(one, "requests", name)
        for one in found
        for name in ("cpu", "memory")
    )
    return "Guaranteed" if limited else "Burstable"


_SOURCE: Final[Pattern] = ("volumes", ANY_ITEM)
_FIELD: Final[Pattern] = ("fieldRef", "apiVersion")
_IN_CONTAINER: Final[dict[Pattern, object]] = {
    **{(name,): value for name, value in CONTAINER_DEFAULTS.items()},
    **dict.fromkeys((("stdin",), ("stdinOnce",), ("tty",), ("volumeMounts", ANY_ITEM, "readOnly")), False),
    ("ports", ANY_ITEM, "protocol"): "TCP",
    ("env", ANY_ITEM, "value"): "",
    ("env", ANY_ITEM, "valueFrom", *_FIELD): "v1",
    ("securityContext",): {},
    **dict.fromkeys((("securityContext", "privileged"), ("securityContext", "readOnlyRootFilesystem")), False),
}
IN_POD: Final[dict[Pattern, object]] = {
    **{(name,): value for name, value in POD_DEFAULTS.items() if name != "restartPolicy"},  # operators set others
    **dict.fromkeys((("hostNetwork",), ("hostPID",), ("hostIPC",)), False),
    ("enableServiceLinks",): True,
    **{
        (field, ANY_ITEM, *route): value
        for field in ("containers", "initContainers")
        for route, value in _IN_CONTAINER.items()
    },
    (*_SOURCE, ANY_KEY, "readOnly"): False,
    (*_SOURCE, "downwardAPI", "items", ANY_ITEM, *_FIELD): "v1",
    (*_SOURCE, "projected", "sources", ANY_ITEM, "downwardAPI", "items", ANY_ITEM, *_FIELD): "v1",
}
"""By route below the `spec` of a pod: what a missing field means; an empty mapping for one with such values only."""
_DEPLOYMENT: Final = {"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600}
_ROLLING_UPDATE: Final = {"maxUnavailable": "25%", "maxSurge": "25%"}
JOB_DEFAULTS: Final[dict[str, Any]] = {
    "completionMode": "NonIndexed",
    "suspend": False,
    "podReplacementPolicy": "TerminatingOrFailed",
    "manualSelector": False,
}


def in_job(*spec: Any, mode: str = JOB_DEFAULTS["completionMode"]) -> dict[Pattern, object]:
    """By route: what a missing field of the `spec` of a Job means. `mode` is that of the kind that makes the Job."""
    defaults = {**JOB_DEFAULTS, "completionMode": mode, "completions": _completions}
    return {(*spec, name): value for name, value in defaults.items()}


def _completions(_body: Body, spec: Body) -> object:
    return 1 if spec.get("parallelism") is None else None


CRON_JOB_LIMITS: Final = {"successfulJobsHistoryLimit": 3, "failedJobsHistoryLimit": 1}


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
"""Fields that an object does not have if they are false or zero: they are not pointers in `k8s.io/api`."""
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


def _pruned(value: object) -> Any:
    if isinstance(value, list):
        return [_pruned(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _text_map(key, inner) if key in _MAPS else _pruned(inner) for key, inner in value.items()}
    return {key: inner for key, inner in kept.items() if not _is_omitted(key, inner)}


def _text_map(key: str, value: object) -> Any:
    """The entries of a mapping of texts; quantities are in their canonical form."""
    if not isinstance(value, dict):
        return value
    if key not in _QUANTITIES:
        return _pruned(value) if key == "selector" else dict(value)
    return {name: _quantity(inner) for name, inner in value.items()}


def _quantity(value: object) -> str:
    try:
        return canonical(str(value))
    except ValueError:
        return str(value)


def _is_omitted(key: str, value: object) -> bool:
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
    """Pods get requests and host ports that templates do not get (`SetDefaults_Pod`)."""
    spec = {"enableServiceLinks": True, **pod_spec(body.get("spec"))}
    for field in ("initContainers", "containers"):
        spec |= each_of(spec, field, lambda one: {**one, "resources": _resources(one.get("resources"))})
        if spec.get("hostNetwork") is True:
            spec |= each_of(spec, field, _with_host_ports)
    status = {"phase": "Pending", "qosClass": quality(spec)}
    return _with_spec(body, spec, status)


def _of_deployment(body: Body) -> Body:
    spec = over(body.get("spec"), {**_DEPLOYMENT})
    strategy = spec.get("strategy")
    spec["strategy"] = (
        _rolling(strategy) if not strategy or at(strategy, "type") in (None, "RollingUpdate") else strategy
    )
    return _with_spec(body, {**spec, **_template(spec)})


def _rolling(strategy: object) -> Body:
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


def _job_spec(given: object) -> Body:
    spec = over(given, JOB_DEFAULTS)
    if spec.get("parallelism") is None and spec.get("completions") is None:
        spec["completions"] = 1
    if spec.get("parallelism") is None:
        spec["parallelism"] = 1
    if spec["completionMode"] == "Indexed" and spec.get("backoffLimitPerIndex") is not None:
        spec.setdefault("backoffLimit", 2**31 - 1)
    spec.setdefault("backoffLimit", 6)
    if isinstance(spec.get("podFailurePolicy"), dict):
        spec["podReplacementPolicy"] = at(given, "podReplacementPolicy") or "Failed"
    return {**spec, **_template(spec)}


def _of_job(body: Body) -> Body:
    return _with_spec(body, _job_spec(body.get("spec")))


def _of_cron_job(body: Body) -> Body:
    spec = over(body.get("spec"), {"concurrencyPolicy": "Allow", "suspend": False, **CRON_JOB_LIMITS})
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
    if spec["type"] == "NodePort" or spec["type"] == "LoadBalancer":  # which may be a mapping, too
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
