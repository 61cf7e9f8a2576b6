"""Defaults that an API server sets in pods and their templates.

From `SetDefaults_Pod` and others of `pkg/apis/core/v1/defaults.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.kubernetes import Body

_POD: Final = {
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "terminationGracePeriodSeconds": 30,
    "securityContext": {},
}
_CONTAINER: Final = {
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_PROBE: Final = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_MODES: Final = {"configMap": 420, "secret": 420, "projected": 420, "downwardAPI": 420}


def over(given: Any, defaults: Body) -> Body:
    """Given values over defaults."""
    return {**defaults, **given} if isinstance(given, dict) else dict(defaults)


def each_of(holder: Body, field: str, each: Callable[[Body], Body]) -> Body:
    """A list with its mappings changed; nothing if there is no list."""
    items = holder.get(field)
    if not isinstance(items, list):
        return {}
    return {field: [each(item) if isinstance(item, dict) else item for item in items]}


def pod_spec(spec: Any, restart: str = "Always") -> Body:
    """The spec of a pod with its defaults."""
    found = over(spec, {**_POD, "restartPolicy": restart})
    for field in ("initContainers", "containers", "ephemeralContainers"):
        found |= each_of(found, field, _container)
    found |= each_of(found, "volumes", _volume)
    if found.get("hostNetwork") is True:
        for field in ("initContainers", "containers"):
            found |= each_of(found, field, _with_host_ports)
    if found.get("serviceAccountName"):
        found.setdefault("serviceAccount", found["serviceAccountName"])
    return found


def _container(container: Body) -> Body:
    found = over(container, _CONTAINER)
    image = str(found.get("image") or "")
    name = image.rpartition("/")[2]
    latest = "@" not in image and (":" not in name or name.endswith(":latest"))
    found.setdefault("imagePullPolicy", "Always" if latest else "IfNotPresent")
    for field in ("livenessProbe", "readinessProbe", "startupProbe"):
        if isinstance(found.get(field), dict):
            found[field] = _probe(found[field])
    found |= each_of(found, "ports", lambda port: over(port, {"protocol": "TCP"}))
    found["resources"] = _resources(found["resources"])
    return found


def _with_host_ports(container: Body) -> Body:
    ports = each_of(container, "ports", lambda port: {"hostPort": port.get("containerPort"), **port})
    return {**container, **ports}


def _resources(resources: Any) -> Body:
    """Requests default to the limits."""
    found = dict(resources) if isinstance(resources, dict) else {}
    limits = found.get("limits")
    if isinstance(limits, dict):
        found["requests"] = {**limits, **(found.get("requests") or {})}
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
    found = [one.get("resources") or {} for one in containers if isinstance(one, dict)]
    if not any((one.get(part) or {}).get(name) for one in found for part in one for name in ("cpu", "memory")):
        return "BestEffort"
    limited = all(
        (one.get("limits") or {}).get(name) and (one.get("limits") or {})[name] == (one.get("requests") or {}).get(name)
        for one in found
        for name in ("cpu", "memory")
    )
    return "Guaranteed" if limited else "Burstable"
