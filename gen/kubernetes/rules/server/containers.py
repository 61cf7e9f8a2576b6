"""Containers, their ports, environment variables, probes and lifecycle hooks.

From `validateContainerCommon`, `validateContainers`, `validateInitContainers`, `validateContainerPorts`,
`AccumulateUniqueHostPorts`, `validatePodHostNetworkDeps`, `ValidateEnv`, `ValidateEnvFrom`, `validateProbe`,
`validateHandler`, `validateLifecycle` and `validateContainerResourceDivisor` of
`pkg/apis/core/validation/validation.go`, and `ConvertDownwardAPIFieldLabel` of `pkg/apis/core/pods/helpers.go`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from msgspec.structs import replace

from gen.base import Route, did_you_mean, quoted, regex
from gen.kubernetes.facts.server_defaults import GRACE_PERIOD_S
from gen.kubernetes.objects import Body
from gen.kubernetes.quantity import server_amount
from gen.kubernetes.rules import Check, Fault, Faults, ObjectView, placed, server_rule
from gen.kubernetes.rules import containers as containers_of
from gen.kubernetes.rules import value_checks as checks
from gen.kubernetes.rules.field_checks import FieldChecks, duplicates, unique
from gen.kubernetes.rules.server.pods import restart_policy

_CONTAINER = FieldChecks(
    {
        "name": checks.dns_label,
        "imagePullPolicy": checks.if_set(checks.one_of("Always", "IfNotPresent", "Never")),
        "terminationMessagePolicy": checks.if_set(checks.one_of("File", "FallbackToLogsOnError")),
        "resizePolicy.*.resourceName": checks.one_of("cpu", "memory"),
        "resizePolicy.*.restartPolicy": checks.one_of("NotRequired", "RestartContainer"),
    }
)
_RESTARTS_DROPPED, _RESTARTS_SINCE = 34, 35
"""Restart policies of single containers: dropped in 1.34, where they are an alpha feature, and available since 1.35."""


@server_rule("containers", of_pods=True, remedy="Give every container an image and a unique name.")
def containers(view: ObjectView) -> Faults:
    """A pod has no containers, or a container has a duplicate name, no image or an invalid policy."""
    for route, pod in view.pods:
        if not pod["containers"]:
            yield Fault(
                (*route, "containers"), "at least one container is required", "add a container with `name` and `image`"
            )
        yield from _doubled(pod, route)
        for at, container in containers_of(pod, route):
            yield from _CONTAINER.faults(container, at)
            image = container.get("image", "")
            if checks.not_empty(image):
                yield Fault((*at, "image"), f"container `{container['name']}` has no image", "set its `image`")
            elif image != image.strip() and view.kind == "Pod":  # not checked in templates
                yield Fault((*at, "image"), "the image has leading or trailing spaces", f"use `{image.strip()}`")
            if "resizePolicy" in container:
                yield from _resizing(container, at, pod)
            if "restartPolicy" in container:
                yield from _restarts(container, at, view.minor)


def _doubled(pod: Body, route: Route) -> Faults:
    names: set[str] = set()
    for field in ("containers", "initContainers"):
        for index, container in enumerate(pod.get(field) or ()):
            if container["name"] in names:
                message = f"duplicate container name `{container['name']}`"
                yield Fault((*route, field, index, "name"), message, "rename one of the two")
            names.add(container["name"])


def _resizing(container: Body, route: Route, pod: Body) -> Faults:
    policies = container.get("resizePolicy") or []
    for at, (name,) in duplicates(policies, (*route, "resizePolicy"), "resourceName"):
        yield Fault(at, f"duplicate policy for `{name}`", "remove one of the two")
    for index, policy in enumerate(policies):
        if restart_policy(pod) == "Never" and policy["restartPolicy"] == "RestartContainer":
            here = (*route, "resizePolicy", index, "restartPolicy")
            message = "no container restarts in a pod with `restartPolicy: Never`"
            yield Fault(here, message, "use `NotRequired`, or change the `restartPolicy` of the pod")


def _restarts(container: Body, route: Route, minor: int) -> Faults:
    policy = container["restartPolicy"]
    if minor == _RESTARTS_DROPPED:
        return
    here = (*route, "restartPolicy")
    if minor >= _RESTARTS_SINCE:
        yield from FieldChecks({"restartPolicy": checks.one_of("Always", "Never", "OnFailure")}).faults(
            container, route
        )
    elif "initContainers" not in route:
        hint = "remove it; the `restartPolicy` of the pod is for all its containers"
        yield Fault(here, "only init containers may have a `restartPolicy`", hint)
    elif policy != "Always":
        yield Fault(here, f"`{policy}` is not allowed; expected `Always`", "set it to `Always`, or remove it")


PROTOCOLS = ("TCP", "UDP", "SCTP")
PROTOCOL = checks.if_set(checks.one_of(*PROTOCOLS))

_PORTS = FieldChecks(
    {
        "ports.*.containerPort": checks.port,
        "ports.*.hostPort": checks.if_set(checks.port),
        "ports.*.protocol": PROTOCOL,
        "ports.*.name": checks.if_set(checks.port_name),
    }
)


@server_rule(
    "ports",
    of_pods=True,
    remedy="Give each port a unique number, and a unique name of at most 15 lower-case letters, digits and `-`.",
)
def ports(view: ObjectView) -> Faults:
    """A container has an invalid port number, an invalid or duplicate port name, or a host port that is already used in
    the pod.
    """
    found = [(route, container) for route, container in view.containers if "ports" in container]
    if not found:
        return
    for route, container in found:
        yield from _PORTS.faults(container, route)
        named = [entry if entry.get("name") else {"name": index} for index, entry in enumerate(_of(container))]
        yield from unique(named, (*route, "ports"), "name", "port name")
    for route, pod in view.pods:
        on_host = bool(pod.get("hostNetwork"))
        regular = list(host_ports(pod, (*route, "containers")))
        yield from taken_twice(regular)
        for at, entry, _ in regular:
            if on_host and entry.get("hostPort") and entry["hostPort"] != entry["containerPort"]:
                message = f"must be the container port {entry['containerPort']} with `hostNetwork`"
                yield Fault((*at, "hostPort"), message, f"set it to {entry['containerPort']}, or remove `hostPort`")
        for index, container in enumerate(pod.get("initContainers") or ()):
            alone = {"containers": [container]}  # init containers run one after the other
            yield from taken_twice(list(host_ports(alone, (*route, "initContainers"), first=index)))


def _of(container: Body) -> list[Body]:
    found: list[Body] = container.get("ports") or []
    return found


def host_ports(
    pod: Body, route: Route, *, on_host: bool = False, first: int = 0
) -> Iterator[tuple[Route, Body, tuple[object, ...] | None]]:
    """Every port with the host port that it uses."""
    for index, container in enumerate(pod["containers"], first):
        for number, entry in enumerate(_of(container)):
            taken = entry.get("hostPort") or (entry["containerPort"] if on_host else 0)
            key = (entry.get("protocol") or "TCP", entry.get("hostIP", ""), taken) if taken else None
            yield (*route, index, "ports", number), entry, key


def taken_twice(found: list[tuple[Route, Body, tuple[object, ...] | None]]) -> Faults:
    seen = set()
    for at, entry, key in found:
        if key is not None and key in seen:
            field = "hostPort" if entry.get("hostPort") else "containerPort"
            yield Fault((*at, field), f"host port {key[2]} is used twice", "change one of the two ports")
        seen.add(key)


_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef")
_FILES_SINCE = 35
_ANY_NAME_SINCE = 32

_FIELDS = {
    *("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "spec.host"),
    *("status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
}
_RESOURCES = {f"{kind}.{name}" for kind in ("limits", "requests") for name in ("cpu", "memory", "ephemeral-storage")}
_HUGE_PAGES = ("limits.hugepages-", "requests.hugepages-")
_SUBSCRIPT = regex(r"(metadata\.(?:labels|annotations))\['(.*)'\]", re.DOTALL)

_CPU_DIVISORS = {server_amount(text) for text in ("1m", "1")}
_BYTE_DIVISORS = {server_amount(text) for text in ("1", "1k", "1M", "1G", "1T", "1P", "1E")}
_BINARY_DIVISORS = {server_amount(text) for text in ("1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")}

_KEYS = {
    f"env.*.valueFrom.{source}.{field}": check
    for source in ("configMapKeyRef", "secretKeyRef")
    for field, check in {"key": checks.config_key, "name": checks.dns_name}.items()
}
_ANY_NAMES, _STRICT_NAMES = (
    FieldChecks({"env.*.name": check, "envFrom.*.prefix": checks.if_set(check), **_KEYS})
    for check in (checks.env_name, checks.strict_env_name)
)


@server_rule(
    "environment", of_pods=True, remedy="Use either `value` or one kind of `valueFrom`, with a name and a key."
)
def environment(view: ObjectView) -> Faults:
    """An environment variable has an invalid name, no source or several, or refers to an unsupported field or
    resource.
    """
    table = _ANY_NAMES if view.minor >= _ANY_NAME_SINCE else _STRICT_NAMES
    sources = (*_SOURCES, "fileKeyRef") if view.minor >= _FILES_SINCE else _SOURCES
    for route, container in view.containers:
        yield from table.faults(container, route)
        for index, variable in enumerate(container.get("env") or ()):
            if "valueFrom" in variable:
                yield from _origin(variable, (*route, "env", index, "valueFrom"), sources)
        for index, source in enumerate(container.get("envFrom") or ()):
            yield from _whole_source(source, (*route, "envFrom", index))


def _origin(variable: Body, route: Route, sources: Collection[str]) -> Faults:
    origin = variable["valueFrom"]
    found = [source for source in sources if source in origin]
    if not found:
        message = "no source; expected one of " + quoted(sources)
        yield Fault(route, message, "add one of them, or use `value` instead of `valueFrom`")
    elif variable.get("value"):
        yield Fault(route, "`value` and `valueFrom` are mutually exclusive", "remove `value` or `valueFrom`")
    elif len(found) > 1:
        message = "several sources; expected only one of " + quoted(found)
        yield Fault(route, message, "keep one of them")
    if "fieldRef" in origin:
        yield from field_reference(origin["fieldRef"], (*route, "fieldRef"), _FIELDS)
    if "resourceFieldRef" in origin:
        yield from resource_reference(origin["resourceFieldRef"], (*route, "resourceFieldRef"))
    for source, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
        if source in origin and "name" not in origin[source]:
            yield Fault((*route, source), "`name` is missing", f"add the `name` of a `{kind}`")


def _whole_source(source: Body, route: Route) -> Faults:
    found = [field for field in ("configMapRef", "secretRef") if field in source]
    if len(found) != 1:
        hint = "keep one of the two, and move the other to a separate entry" if found else "add one of the two"
        yield Fault(route, "exactly one of `configMapRef` and `secretRef` is required", hint)
    for field in found:
        yield from placed(checks.dns_name(checks.with_suffix(source[field].get("name", ""))), (*route, field, "name"))


def field_reference(reference: Body, route: Route, fields: Collection[str]) -> Faults:
    """Faults of a reference to a field of the pod."""
    if reference.get("apiVersion", "v1") not in {"", "v1"}:
        yield Fault(
            (*route, "apiVersion"),
            f"`{reference['apiVersion']}` is not supported; expected `v1`",
            "set it to `v1`, or remove it",
        )
        return
    path = reference["fieldPath"]
    subscript = _SUBSCRIPT.fullmatch(path)
    if subscript is not None:
        check = checks.qualified_name if subscript[1].endswith("labels") else checks.lower_case(checks.qualified_name)
        yield from placed(check(subscript[2]), (*route, "fieldPath"))
    elif path not in fields:
        yield Fault(
            (*route, "fieldPath"), f"`{path}` is not a field that the downward API supports", _near_field(path, fields)
        )


def _near_field(path: str, fields: Collection[str]) -> str:
    for mapping in ("metadata.labels", "metadata.annotations"):
        if path.startswith(mapping):
            return f"select one entry by its key, as in `{mapping}['example.com/key']`"
    return did_you_mean(path, fields)


def resource_reference(reference: Body, route: Route) -> Faults:
    """Faults of a reference to a resource of a container."""
    name = reference["resource"]
    if name not in _RESOURCES and not name.startswith(_HUGE_PAGES):
        yield _unknowable(name).at((*route, "resource"))
    divisor: Any = reference.get("divisor", 0)
    fault = checks.quantity(divisor)
    if fault is not None:
        yield fault.at((*route, "divisor"))
        return
    known = name in _RESOURCES or name.startswith(_HUGE_PAGES)
    of_bytes = _BINARY_DIVISORS if str(divisor).endswith("i") else _BYTE_DIVISORS
    number = server_amount(divisor)
    if known and number and number not in (_CPU_DIVISORS if name.endswith(".cpu") else of_bytes):
        expected = "`1` or `1m`" if name.endswith(".cpu") else "`1`, `1k`, `1Ki`, `1M`, `1Mi` and so on"
        yield Fault((*route, "divisor"), f"`{divisor}` is not a valid divisor of `{name}`", f"use {expected}")


def _unknowable(name: str) -> Fault:
    message = f"`{name}` is not a resource that the downward API supports"
    if name in {resource.partition(".")[2] for resource in _RESOURCES}:
        return Fault((), message, f"use `limits.{name}` or `requests.{name}`")
    if "/" in name or "gpu" in name.lower():
        return Fault((), message, "set the amount as the `value` of a variable")
    return Fault((), message, did_you_mean(name, _RESOURCES))


_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HOOKS = ("postStart", "preStop")
_NOT_FOR_INIT = (*_PROBES, "lifecycle")
_OF_PROBES = ("exec", "httpGet", "tcpSocket", "grpc")
_OF_HOOKS = ("exec", "httpGet", "tcpSocket", "sleep")

_ACTION = FieldChecks(
    {
        "exec.command": checks.not_empty,
        "httpGet.port": checks.port_or_name,
        "httpGet.scheme": checks.if_set(checks.one_of("HTTP", "HTTPS")),
        "httpGet.httpHeaders.*.name": checks.header_name,
        "tcpSocket.port": checks.port_or_name,
        "grpc.port": checks.port,
    }
)
_PROBE = FieldChecks(
    {
        **dict.fromkeys(("initialDelaySeconds", "timeoutSeconds", "periodSeconds"), checks.at_least(0)),
        **dict.fromkeys(("successThreshold", "failureThreshold"), checks.at_least(0)),
        "terminationGracePeriodSeconds": checks.at_least(1),
    }
)
_NO_SLEEP_SINCE = 33


@server_rule(
    "probes",
    of_pods=True,
    remedy="Keep one of `exec`, `httpGet`, `tcpSocket`, `grpc`. Set `successThreshold: 1` in a liveness probe.",
)
def probes(view: ObjectView) -> Faults:
    """A probe or lifecycle hook has no handler or several, or an invalid port or number."""
    for route, pod in view.pods:
        grace = pod.get("terminationGracePeriodSeconds", GRACE_PERIOD_S)
        for field in ("initContainers", "containers"):
            for index, container in enumerate(pod.get(field) or ()):
                at = (*route, field, index)
                if field == "initContainers" and container.get("restartPolicy") != "Always":
                    yield from _not_for_init(container, at)
                else:
                    yield from _of_container(container, at)
                    if "lifecycle" in container:
                        yield from _hooks(container["lifecycle"], (*at, "lifecycle"), view.minor, grace)


def _not_for_init(container: Body, route: Route) -> Faults:
    for field in _NOT_FOR_INIT:
        # a stop signal alone is dropped while its feature gate is off
        if field in container and container[field].keys() != {"stopSignal"}:
            hint = "remove it, or set `restartPolicy: Always` to make the container a sidecar"
            yield Fault((*route, field), f"an init container cannot have `{field}`", hint)


def _of_container(container: Body, route: Route) -> Faults:
    for field in _PROBES:
        if field in container:
            probe, at = container[field], (*route, field)
            yield from _PROBE.faults(probe, at)
            yield from _handler(probe, at, _OF_PROBES)
            if field != "readinessProbe" and probe.get("successThreshold", 1) not in {0, 1}:
                yield Fault((*at, "successThreshold"), f"must be 1 for a `{field}`", "set it to 1, or remove it")
            if field == "readinessProbe" and "terminationGracePeriodSeconds" in probe:
                hint = "remove it, or move it to the `livenessProbe`"
                yield Fault((*at, "terminationGracePeriodSeconds"), "not allowed in a `readinessProbe`", hint)


def _hooks(lifecycle: Body, route: Route, minor: int, grace: int) -> Faults:
    for hook in _HOOKS:
        if hook in lifecycle:
            yield from _handler(lifecycle[hook], (*route, hook), _OF_HOOKS)
    sleep = _sleep(0 if minor >= _NO_SLEEP_SINCE else 1, grace)
    yield from FieldChecks({f"{hook}.sleep.seconds": sleep for hook in _HOOKS}).faults(lifecycle, route)


def _sleep(shortest: int, grace: int) -> Check:
    check = checks.between(shortest, grace)

    def seconds(value: Any) -> Fault | None:
        fault = check(value)
        if fault is None:
            return None
        if value < shortest <= grace:
            return replace(fault, hint=f"use {shortest} or more")
        enough = max(value, shortest)
        return replace(
            fault, hint=f"shorten the sleep, or raise `terminationGracePeriodSeconds` of the pod to {enough}"
        )

    return seconds


def _handler(holder: Body, route: Route, kinds: tuple[str, ...]) -> Faults:
    found = [kind for kind in kinds if kind in holder]
    if not found:
        message = "no handler; expected one of " + quoted(kinds)
        yield Fault(route, message, f"add one of them, or remove `{route[-1]}`")
    for kind in found[1:]:
        yield Fault((*route, kind), f"`{kind}` and `{found[0]}` are mutually exclusive", "keep one of the two")
    yield from _ACTION.faults(holder, route)
    if "exec" in holder and "command" not in holder["exec"]:
        yield Fault((*route, "exec"), "`command` is missing", "add a `command`, a list of a program and its arguments")
