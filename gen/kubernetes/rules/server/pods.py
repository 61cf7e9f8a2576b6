"""Fields of a pod's `spec` except containers, volumes and scheduling; security contexts of pods and containers.

From `ValidatePodSpec`, `ValidateSecurityContext`, `validatePodSpecSecurityContext` and `validateSysctls` of
`pkg/apis/core/validation/validation.go`, `component-helpers/node/util/sysctl/namespace.go`, and
`pkg/apis/core/v1/defaults.go` for the meaning of empty values. Of `windowsOptions`, only the name of a credential
specification is checked.
"""

from __future__ import annotations

from typing import Any

from gen.base import Route, regex
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Check, Fault, Faults, ObjectView, containers, server_rule
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


_PROFILE = checks.one_of("Localhost", "RuntimeDefault", "Unconfined")
_CONTEXT: dict[str, Check] = {
    "runAsUser": checks.user_id,
    "runAsGroup": checks.user_id,
    "seccompProfile.type": _PROFILE,
    "appArmorProfile.type": _PROFILE,
    "windowsOptions.gmsaCredentialSpecName": checks.dns_name,
}
_CONTAINER_SECURITY = FieldChecks({**_CONTEXT, "procMount": checks.one_of("Default", "Unmasked")})
_POD_SECURITY = FieldChecks(
    {
        **_CONTEXT,
        "fsGroup": checks.user_id,
        "supplementalGroups.*": checks.user_id,
        "fsGroupChangePolicy": checks.one_of("OnRootMismatch", "Always"),
        "supplementalGroupsPolicy": checks.one_of("Merge", "Strict"),
    }
)
_RECURSIVE_ONLY = FieldChecks({"seLinuxChangePolicy": checks.one_of("Recursive")})
_ANY_POLICY = FieldChecks({"seLinuxChangePolicy": checks.one_of("Recursive", "MountOption")})
_ANY_POLICY_SINCE = 37

_SYSCTL = regex(r"(?:[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?")
_MAX_SYSCTL_LENGTH = 253
_OF_IPC = regex(r"kernel\.(?:sem|shm|shmall|shmmax|shmmni|shm_rmid_forced|msg|msgmax|msgmnb|msgmni)|fs\.mqueue\..*")
_MAX_PATH_LENGTH = 4095


@server_rule("security", of_pods=True, remedy="Remove one of the mutually exclusive fields.")
def security(view: ObjectView) -> Faults:
    """A security context has an invalid user, group, profile or kernel parameter, or contradictory privileges."""
    for route, pod in view.pods:
        if context := pod.get("securityContext"):
            at = (*route, "securityContext")
            yield from _POD_SECURITY.faults(context, at)
            yield from (_ANY_POLICY if view.minor >= _ANY_POLICY_SINCE else _RECURSIVE_ONLY).faults(context, at)
            yield from _profiles(context, at)
            yield from _sysctls(pod, context.get("sysctls") or [], (*at, "sysctls"))
        for here, container in containers(pod, route):
            if not (inner := container.get("securityContext")):
                continue
            within = (*here, "securityContext")
            yield from _CONTAINER_SECURITY.faults(inner, within)
            yield from _profiles(inner, within)
            yield from _privilege(inner, within)
            if inner.get("procMount") == "Unmasked" and pod.get("hostUsers") is not False:
                hint = "set `hostUsers: false` for the pod, or use `Default`"
                yield Fault((*within, "procMount"), "`Unmasked` requires `hostUsers: false`", hint)


def _profiles(context: Body, route: Route) -> Faults:
    for field in ("seccompProfile", "appArmorProfile"):
        if field not in context:
            continue
        profile, path = context[field], context[field].get("localhostProfile")
        at = (*route, field, "localhostProfile")
        if profile["type"] != "Localhost":
            if path is not None:
                hint = "remove `localhostProfile`, or set `type: Localhost`"
                yield Fault(at, f"not allowed for a profile of type `{profile['type']}`", hint)
        elif path is None or (field == "appArmorProfile" and not path):
            hint = "add `localhostProfile`, or use the type `RuntimeDefault`"
            yield Fault(at, "required for a profile of type `Localhost`", hint)
        elif field == "appArmorProfile" and (path != path.strip() or len(path) > _MAX_PATH_LENGTH):
            hint = f"use at most {_MAX_PATH_LENGTH} characters, without leading or trailing spaces"
            yield Fault(at, "the path is too long, or has leading or trailing spaces", hint)
        elif field == "seccompProfile" and (fault := checks.descending(path)) is not None:
            yield fault.at(at)


def _privilege(context: Body, route: Route) -> Faults:
    if context.get("allowPrivilegeEscalation") is not False:
        return
    at = (*route, "allowPrivilegeEscalation")
    if context.get("privileged"):
        yield Fault(at, "cannot be false for a `privileged` container", "remove it, or `privileged: true`")
    if "CAP_SYS_ADMIN" in (context.get("capabilities") or {}).get("add", ()):
        hint = "remove it, or the capability `CAP_SYS_ADMIN`"
        yield Fault(at, "cannot be false for a container with `CAP_SYS_ADMIN`", hint)


def _sysctls(pod: Body, found: list[Body], route: Route) -> Faults:
    for at, (name,) in duplicates(found, route, "name"):
        yield Fault((*at, "name"), f"duplicate kernel parameter `{name}`", "remove one of the two")
    for index, entry in enumerate(found):
        name, at = entry["name"], (*route, index, "name")
        dotted = name.replace("/", ".")
        if len(name) > _MAX_SYSCTL_LENGTH or not _SYSCTL.fullmatch(name):
            yield Fault(at, f"`{name}` is not a valid kernel parameter", "use a name such as `net.core.somaxconn`")
        elif pod.get("hostNetwork") and dotted.startswith("net."):
            yield Fault(at, f"`{name}` cannot be set with `hostNetwork`", "remove the parameter, or `hostNetwork`")
        elif pod.get("hostIPC") and _OF_IPC.fullmatch(dotted):
            yield Fault(at, f"`{name}` cannot be set with `hostIPC`", "remove the parameter, or `hostIPC`")
