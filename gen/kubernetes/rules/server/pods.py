"""Fields of a pod's `spec`, except containers, volumes and scheduling.

From `ValidatePodSpec` of `pkg/apis/core/validation/validation.go`, and `pkg/apis/core/v1/defaults.go` for the meaning
of empty values.
"""

from __future__ import annotations

from typing import Any

from gen.base import Route
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Fault, Faults, ObjectView, server_rule
from gen.kubernetes.rules import value_checks as checks
from gen.kubernetes.rules.field_checks import FieldChecks, duplicates, labels

_POD = FieldChecks(
    {
        "restartPolicy": checks.if_set(checks.one_of("Always", "OnFailure", "Never")),
        "dnsPolicy": checks.if_set(checks.one_of("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")),
        "preemptionPolicy": checks.one_of("PreemptLowerPriority", "Never"),
        "os.name": checks.one_of("linux", "windows"),
        "hostname": checks.if_set(checks.dns_label),
        "subdomain": checks.if_set(checks.dns_label),
        "nodeName": checks.if_set(checks.dns_name),
        "serviceAccountName": checks.if_set(checks.dns_name),
        "priorityClassName": checks.if_set(checks.dns_name),
        "runtimeClassName": checks.dns_name,
        "activeDeadlineSeconds": checks.between(1, checks.LARGEST_ID),
        "dnsConfig.nameservers.*": checks.ip,
        "hostAliases.*.ip": checks.ip,
        "hostAliases.*.hostnames.*": checks.dns_name,
        "readinessGates.*.conditionType": checks.qualified_name,
        "schedulingGates.*.name": checks.qualified_name,
        "resourceClaims.*.name": checks.dns_label,
        "resourceClaims.*.resourceClaimName": checks.dns_name,
        "resourceClaims.*.resourceClaimTemplateName": checks.dns_name,
    }
)
_OLD_ACCOUNT = FieldChecks({"serviceAccount": checks.if_set(checks.dns_name)})
_SEARCH_LABEL = "_?[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?"
_search = checks.text_check(
    rf"{_SEARCH_LABEL}(?:\.{_SEARCH_LABEL})*",
    253,
    "DNS name",
    "lower-case letters, digits, `-` and `_`, separated by `.`",
)
_RELAXED_SEARCH_SINCE = 33
_MAX_NAMESERVERS, _MAX_SEARCHES, _MAX_SEARCHES_LENGTH = 3, 32, 2048


@server_rule("pods", of_pods=True, remedy="Use one of the values that the finding lists, or remove the field.")
def pods(view: ObjectView) -> Faults:
    """A pod has an invalid policy, DNS setting, host name, gate, claim or host namespace setting."""
    for route, pod in view.pods:
        yield from _POD.faults(pod, route)
        if "nodeSelector" in pod:
            yield from labels(pod["nodeSelector"], (*route, "nodeSelector"))
        if "serviceAccount" in pod and not pod.get("serviceAccountName"):  # the deprecated field counts only then
            yield from _OLD_ACCOUNT.faults(pod, route)
        if "dnsConfig" in pod or "dnsPolicy" in pod:
            yield from _dns(pod, route, view.minor)
        if "resourceClaims" in pod:
            yield from _claims(pod["resourceClaims"], (*route, "resourceClaims"))
        yield from _host(pod, route)
        if pod.get("schedulingGates"):
            yield from _gates(pod, route)
        if pod.get("ephemeralContainers"):
            hint = "remove the field; `kubectl debug` adds ephemeral containers to running pods"
            yield Fault((*route, "ephemeralContainers"), "a new pod cannot have ephemeral containers", hint)


def _gates(pod: Body, route: Route) -> Faults:
    for at, (name,) in duplicates(pod["schedulingGates"], (*route, "schedulingGates"), "name"):
        yield Fault(at, f"duplicate scheduling gate `{name}`", "remove one of the two")
    if pod.get("nodeName"):
        hint = "remove `nodeName` or `schedulingGates`"
        yield Fault((*route, "nodeName"), "`nodeName` and `schedulingGates` are mutually exclusive", hint)


def _dns(pod: Body, route: Route, minor: int) -> Faults:
    config: Body = pod.get("dnsConfig") or {}
    here = (*route, "dnsConfig")
    servers: list[str] = config.get("nameservers") or []
    searches: list[str] = config.get("searches") or []
    if pod.get("dnsPolicy") == "None" and not servers:
        hint = "add one there, or use another policy, such as `ClusterFirst`"
        yield Fault((*route, "dnsPolicy"), "`None` requires a name server in `dnsConfig.nameservers`", hint)
    if len(servers) > _MAX_NAMESERVERS:
        message = f"more than {_MAX_NAMESERVERS} name servers"
        yield Fault((*here, "nameservers"), message, f"keep at most {_MAX_NAMESERVERS} of them")
    if len(searches) > _MAX_SEARCHES or len(" ".join(searches)) > _MAX_SEARCHES_LENGTH:
        message = f"more than {_MAX_SEARCHES} search domains or {_MAX_SEARCHES_LENGTH} characters"
        yield Fault((*here, "searches"), message, "remove some of the domains")
    relaxed = minor >= _RELAXED_SEARCH_SINCE
    for index, search in enumerate(searches):
        fault = (_search if relaxed else checks.dns_name)(search.removesuffix("."))
        if fault is not None and not (relaxed and search == "."):
            yield fault.at((*here, "searches", index))
    for index, option in enumerate(config.get("options") or ()):
        if checks.not_empty(option.get("name")):
            yield Fault((*here, "options", index), "an option has no name", "add a `name`, or remove the option")


def _claims(claims: list[Body], route: Route) -> Faults:
    for at, (name,) in duplicates(claims, route, "name"):
        yield Fault(at, f"duplicate claim name `{name}`", "rename one of the two")
    for index, claim in enumerate(claims):
        sources = {"resourceClaimName", "resourceClaimTemplateName"} & claim.keys()
        if len(sources) != 1:
            message = "exactly one of `resourceClaimName` and `resourceClaimTemplateName` is required"
            yield Fault((*route, index), message, "keep one of the two" if sources else "add one of the two")


def _host(pod: Body, route: Route) -> Faults:
    if pod.get("shareProcessNamespace") and pod.get("hostPID"):
        message = "`shareProcessNamespace` and `hostPID` are mutually exclusive"
        yield Fault((*route, "shareProcessNamespace"), message, "keep one of the two")
    if pod.get("hostUsers") is not False:
        return
    for field in ("hostNetwork", "hostPID", "hostIPC"):
        if pod.get(field):
            message = f"`{field}` is not allowed with `hostUsers: false`"
            yield Fault((*route, field), message, f"remove `{field}` or `hostUsers: false`")
    for field in ("initContainers", "containers"):
        for index, container in enumerate(pod.get(field) or ()):
            if container.get("volumeDevices"):
                hint = "remove `hostUsers: false` from the pod, or the devices"
                at = (*route, field, index, "volumeDevices")
                yield Fault(at, "block devices are not allowed with `hostUsers: false`", hint)


def restart_policy(pod: Body) -> Any:
    """The restart policy, or the server's default."""
    return pod.get("restartPolicy") or "Always"
