"""Security contexts of pods. Of `windowsOptions`, only the name of a credential specification is checked.

From `ValidateSecurityContext`, `validatePodSpecSecurityContext` and `validateSysctls` of
`pkg/apis/core/validation/validation.go`, and `component-helpers/node/util/sysctl/namespace.go`.
"""

from __future__ import annotations

from gen.base import Route, regex
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Check, Fault, Faults, ObjectView, containers, server_rule
from gen.kubernetes.rules.field_checks import FieldChecks, duplicates
from gen.kubernetes.rules.value_checks import descending, dns_name, one_of, user_id

_PROFILE = one_of("Localhost", "RuntimeDefault", "Unconfined")
_CONTEXT: dict[str, Check] = {
    "runAsUser": user_id,
    "runAsGroup": user_id,
    "seccompProfile.type": _PROFILE,
    "appArmorProfile.type": _PROFILE,
    "windowsOptions.gmsaCredentialSpecName": dns_name,
}
_CONTAINER = FieldChecks({**_CONTEXT, "procMount": one_of("Default", "Unmasked")})
_POD = FieldChecks(
    {
        **_CONTEXT,
        "fsGroup": user_id,
        "supplementalGroups.*": user_id,
        "fsGroupChangePolicy": one_of("OnRootMismatch", "Always"),
        "supplementalGroupsPolicy": one_of("Merge", "Strict"),
    }
)
_RECURSIVE_ONLY = FieldChecks({"seLinuxChangePolicy": one_of("Recursive")})
_ANY_POLICY = FieldChecks({"seLinuxChangePolicy": one_of("Recursive", "MountOption")})
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
            yield from _POD.faults(context, at)
            yield from (_ANY_POLICY if view.minor >= _ANY_POLICY_SINCE else _RECURSIVE_ONLY).faults(context, at)
            yield from _profiles(context, at)
            yield from _sysctls(pod, context.get("sysctls") or [], (*at, "sysctls"))
        for here, container in containers(pod, route):
            if not (inner := container.get("securityContext")):
                continue
            within = (*here, "securityContext")
            yield from _CONTAINER.faults(inner, within)
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
        elif field == "seccompProfile" and (fault := descending(path)) is not None:
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
