"""Fields that are only for Windows, and fields that Windows does not support.

From `validateWindowsSecurityContextOptions`, `validateWindowsHostProcessPod`, `validateLinux` and `validateWindows` of
`pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.regex import regex
from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks
from gen.rules.name_checks import dns_name
from gen.rules.object_view import containers
from gen.rules.rule import server

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_ELSEWHERE = (
    *("appArmorProfile", "seLinuxOptions", "seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls", "runAsUser"),
    *("runAsGroup", "supplementalGroups", "supplementalGroupsPolicy", "seLinuxChangePolicy", "capabilities"),
    *("readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation", "procMount"),
)
"""Fields of a `securityContext` that Windows does not support."""

_MAX_SPEC_BYTES = 64 << 10
_DOMAIN = regex(
    r"[^\\/:*?\"<>|.][^\\/:*?\"<>|]{0,14}|"
    r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*"
)
_USER = regex(r"(?![. ]+$)[^\"/\\:;|=,+*?<>@\[\]\x00-\x1f\x7f]{1,104}")
_MAX_DOMAIN_LENGTH = 255


def _user(value: Any) -> Fault | None:
    domain, slash, user = value.rpartition("\\")
    fits = _USER.fullmatch(user) and (not slash or (len(domain) <= _MAX_DOMAIN_LENGTH and _DOMAIN.fullmatch(domain)))
    return (
        None
        if fits
        else Fault((), f"`{value}` is not a valid user name", "use a name such as `ContainerUser` or `DOMAIN\\user`")
    )


def _credential(value: Any) -> Fault | None:
    if 0 < len(value.encode()) <= _MAX_SPEC_BYTES:
        return None
    hint = f"shorten it to {_MAX_SPEC_BYTES} bytes" if value else "set the specification, or remove the field"
    return Fault((), f"expected 1 to {_MAX_SPEC_BYTES} bytes", hint)


_OPTIONS = FieldChecks(
    {
        "windowsOptions.gmsaCredentialSpecName": dns_name,
        "windowsOptions.gmsaCredentialSpec": _credential,
        "windowsOptions.runAsUserName": _user,
    }
)


@server(
    "windows",
    of_pods=True,
    remedy="Set `os.name` to the system of the image, and remove the fields of the other system.",
)
def windows(view: ObjectView) -> Faults:
    """A pod for Linux has `windowsOptions`, or a pod for Windows has fields that Windows does not support."""
    for route, pod in view.pods:
        system = (pod.get("os") or {}).get("name")
        contexts = _contexts(pod, route)
        for at, context in contexts:
            if "windowsOptions" in context:
                yield from _OPTIONS.faults(context, at)
            if system == "linux" and "windowsOptions" in context:
                hint = "remove them, or set the `os.name` of the pod to `windows`"
                yield Fault((*at, "windowsOptions"), "`windowsOptions` are not allowed for Linux", hint)
            for field in _ELSEWHERE if system == "windows" else ():
                if field in context and context[field] != []:
                    yield _not_for_windows(field).at((*at, field))
        if system == "windows":
            on_host = [field for field in ("hostPID", "hostIPC") if pod.get(field)]
            for field in (*on_host, *({"hostUsers", "shareProcessNamespace", "resources"} & pod.keys())):
                yield _not_for_windows(field).at((*route, field))
        if any("windowsOptions" in context for _, context in contexts):
            yield from _host_process(pod, route, contexts)


def _not_for_windows(field: str) -> Fault:
    return Fault((), f"`{field}` is not allowed for Windows", "remove it, or set the `os.name` of the pod to `linux`")


def _contexts(pod: Body, route: Route) -> list[tuple[Route, Body]]:
    holders = [(route, pod), *containers(pod, route)]
    return [((*at, "securityContext"), holder.get("securityContext") or {}) for at, holder in holders]


def _host_process(pod: Body, route: Route, contexts: list[tuple[Route, Body]]) -> Faults:
    (_, of_pod), *inner = contexts
    given = (of_pod.get("windowsOptions") or {}).get("hostProcess")
    found = [(at, (context.get("windowsOptions") or {}).get("hostProcess", given)) for at, context in inner]
    if not any(value for _, value in found):
        return
    if not pod.get("hostNetwork"):
        hint = "add `hostNetwork: true` to the pod, or remove `hostProcess`"
        yield Fault((*route, "hostNetwork"), "host process containers require `hostNetwork: true`", hint)
    for at, value in found:
        if not value or (given is not None and value != given):
            message = "all containers of a pod must have the same `hostProcess`"
            hint = "set the same value for the pod and all its containers"
            yield Fault((*at, "windowsOptions", "hostProcess"), message, hint)
