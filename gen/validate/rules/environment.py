"""Environment variables and where they come from.

From `ValidateEnv`, `ValidateEnvFrom` and `validateContainerResourceDivisor` of
`pkg/apis/core/validation/validation.go`, and `ConvertDownwardAPIFieldLabel` of `pkg/apis/core/pods/helpers.go`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gen.validate.amounts import amount, quantity
from gen.validate.forms import (
    config_key,
    dns_name,
    env_name,
    given,
    lower_case,
    qualified_name,
    strict_env_name,
    with_suffix,
)
from gen.validate.rule import server
from gen.validate.tables import Table

if TYPE_CHECKING:
    from collections.abc import Collection

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.validate.tables import Faults
    from gen.validate.view import View

_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef")
_FILES_SINCE = 35
_ANY_NAME_SINCE = 32

_FIELDS = {
    *("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "spec.host"),
    *("status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
}
_RESOURCES = {f"{kind}.{name}" for kind in ("limits", "requests") for name in ("cpu", "memory", "ephemeral-storage")}
_HUGE_PAGES = ("limits.hugepages-", "requests.hugepages-")
_SUBSCRIPT = re.compile(r"(metadata\.(?:labels|annotations))\['(.*)'\]", re.DOTALL)

_CPU_DIVISORS = {amount(text) for text in ("1m", "1")}
_BYTE_DIVISORS = {amount(text) for text in ("1", "1k", "1M", "1G", "1T", "1P", "1E")}
_BINARY_DIVISORS = {amount(text) for text in ("1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")}

_KEYS = {
    f"env.*.valueFrom.{source}.{field}": check
    for source in ("configMapKeyRef", "secretKeyRef")
    for field, check in {"key": config_key, "name": dns_name}.items()
}
_ANY_NAMES, _STRICT_NAMES = (
    Table({"env.*.name": check, "envFrom.*.prefix": given(check), **_KEYS}) for check in (env_name, strict_env_name)
)


@server(
    "environment",
    of_pods=True,
    remedy="Use either `value` or one kind of `valueFrom`, with a name and a key.",
)
def environment(view: View) -> Faults:
    """Variables have names, one source each, and references to fields and resources that a pod can know."""
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
        yield route, "needs one of " + ", ".join(f"`{source}`" for source in sources)
    elif variable.get("value"):
        yield route, "a variable has either `value` or `valueFrom`"
    elif len(found) > 1:
        yield route, "takes one of " + ", ".join(f"`{source}`" for source in found)
    if "fieldRef" in origin:
        yield from field_reference(origin["fieldRef"], (*route, "fieldRef"), _FIELDS)
    if "resourceFieldRef" in origin:
        yield from resource_reference(origin["resourceFieldRef"], (*route, "resourceFieldRef"))
    for source in ("configMapKeyRef", "secretKeyRef"):
        if source in origin and "name" not in origin[source]:
            yield (*route, source), "has no `name`"


def _whole_source(source: Body, route: Route) -> Faults:
    found = [field for field in ("configMapRef", "secretRef") if field in source]
    if len(found) != 1:
        yield route, "needs either `configMapRef` or `secretRef`"
    for field in found:
        fault = dns_name(with_suffix(source[field].get("name", "")))
        if fault is not None:
            yield (*route, field, "name"), fault


def field_reference(reference: Body, route: Route, fields: Collection[str]) -> Faults:
    """Faults of a reference to a field of the pod."""
    if reference.get("apiVersion", "v1") not in {"", "v1"}:
        yield (*route, "apiVersion"), f"`{reference['apiVersion']}` is not `v1`"
        return
    path = reference["fieldPath"]
    subscript = _SUBSCRIPT.fullmatch(path)
    if subscript is not None:
        check = qualified_name if subscript[1].endswith("labels") else lower_case(qualified_name)
        fault = check(subscript[2])
        if fault is not None:
            yield (*route, "fieldPath"), fault
    elif path not in fields:
        yield (*route, "fieldPath"), f"`{path}` is no field that a pod can know of itself"


def resource_reference(reference: Body, route: Route) -> Faults:
    """Faults of a reference to what a container asks for."""
    name = reference["resource"]
    if name not in _RESOURCES and not name.startswith(_HUGE_PAGES):
        yield (*route, "resource"), f"`{name}` is no resource that a container can know of itself"
    divisor: Any = reference.get("divisor", 0)
    fault = quantity(divisor)
    if fault is not None:
        yield (*route, "divisor"), fault
        return
    known = name in _RESOURCES or name.startswith(_HUGE_PAGES)
    of_bytes = _BINARY_DIVISORS if str(divisor).endswith("i") else _BYTE_DIVISORS
    if known and amount(divisor) and amount(divisor) not in (_CPU_DIVISORS if name.endswith(".cpu") else of_bytes):
        expected = "`1` or `1m`" if name.endswith(".cpu") else "`1`, `1k`, `1Ki`, `1M`, `1Mi` and so on"
        yield (*route, "divisor"), f"`{divisor}` is not {expected}"
