"""Environment variables and their sources.

From `ValidateEnv`, `ValidateEnvFrom` and `validateContainerResourceDivisor` of
`pkg/apis/core/validation/validation.go`, and `ConvertDownwardAPIFieldLabel` of `pkg/apis/core/pods/helpers.go`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gen.diagnostics import did_you_mean
from gen.quantity import server_amount
from gen.regex import regex
from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks
from gen.rules.name_checks import (
    config_key,
    dns_name,
    env_name,
    lower_case,
    qualified_name,
    strict_env_name,
    with_suffix,
)
from gen.rules.quantities import quantity
from gen.rules.rule import server
from gen.rules.value_checks import if_set

if TYPE_CHECKING:
    from collections.abc import Collection

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

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
    for field, check in {"key": config_key, "name": dns_name}.items()
}
_ANY_NAMES, _STRICT_NAMES = (
    FieldChecks({"env.*.name": check, "envFrom.*.prefix": if_set(check), **_KEYS})
    for check in (env_name, strict_env_name)
)


@server(
    "environment",
    of_pods=True,
    remedy="Use either `value` or one kind of `valueFrom`, with a name and a key.",
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
        message = "no source; expected one of " + ", ".join(f"`{source}`" for source in sources)
        yield Fault(route, message, "add one of them, or use `value` instead of `valueFrom`")
    elif variable.get("value"):
        yield Fault(route, "`value` and `valueFrom` are mutually exclusive", "remove `value` or `valueFrom`")
    elif len(found) > 1:
        message = "several sources; expected only one of " + ", ".join(f"`{source}`" for source in found)
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
        fault = dns_name(with_suffix(source[field].get("name", "")))
        if fault is not None:
            yield fault.at((*route, field, "name"))


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
        check = qualified_name if subscript[1].endswith("labels") else lower_case(qualified_name)
        fault = check(subscript[2])
        if fault is not None:
            yield fault.at((*route, "fieldPath"))
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
    fault = quantity(divisor)
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
