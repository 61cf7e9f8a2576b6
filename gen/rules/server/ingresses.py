"""Ingresses: hosts, paths and backends.

From `ValidateIngressSpec` of `pkg/apis/networking/validation/validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks
from gen.rules.name_checks import ANY_SERVICE_NAME_SINCE, dns_1035_label, dns_label, dns_name, dns_wildcard, port_name
from gen.rules.rule import server
from gen.rules.server.autoscaling import path_segment
from gen.rules.server.storage import reference
from gen.rules.value_checks import absolute, if_set, ip, not_empty, one_of, port

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_TYPES = ("Exact", "Prefix", "ImplementationSpecific")
_NOT_IN_PATHS = ("//", "/./", "/../", "%2f", "%2F")
_NOT_AT_END = ("/..", "/.")
_OR_ANY_PATH = "or set `pathType: ImplementationSpecific`"
_CLASS = "kubernetes.io/ingress.class"
_ONE_CLASS = f"remove the annotation `{_CLASS}`"


def _host(value: Any) -> Fault | None:
    if ip(value) is None:
        return Fault((), f"`{value}` is an IP address", "use a DNS name, or remove `host` for all hosts")
    return _named(value)


def _named(value: Any) -> Fault | None:
    return dns_wildcard(value) if "*" in value else dns_name(value)


_INGRESS = FieldChecks(
    {
        "ingressClassName": dns_name,
        "rules.*.host": if_set(_host),
        "rules.*.http.paths": not_empty,
        "rules.*.http.paths.*.pathType": one_of(*_TYPES),
        "tls.*.hosts.*": _named,
        "tls.*.secretName": if_set(dns_name),
    }
)
_BACKEND = FieldChecks(
    {
        "service.port.name": if_set(port_name),
        "service.port.number": if_set(port),
        "resource.apiGroup": dns_name,
        "resource.kind": path_segment,
        "resource.name": path_segment,
    }
)


@server(
    "ingresses",
    "networking.k8s.io/Ingress",
    remedy="Give each path a `pathType` and a backend with a service and one port.",
)
def ingresses(view: ObjectView) -> Faults:
    """An ingress has no rules, or an invalid host, path or backend."""
    if view.kind != "Ingress":
        return
    spec, route = view.spec, ("spec",)
    yield from _INGRESS.faults(spec, route)
    if not spec.get("rules") and "defaultBackend" not in spec:
        yield Fault(route, "`rules` or `defaultBackend` is required", "add one of the two")
    name = dns_label if view.minor >= ANY_SERVICE_NAME_SINCE else dns_1035_label
    services = FieldChecks({"service.name": name})
    for at, backend in _backends(spec, route):
        yield from services.faults(backend, at)
        yield from _BACKEND.faults(backend, at)
        yield from _target(backend, at)
    for number, rule in enumerate(spec.get("rules") or ()):
        for index, path in enumerate((rule.get("http") or {}).get("paths") or ()):
            yield from _path(path, (*route, "rules", number, "http", "paths", index))
    older = (view.metadata.get("annotations") or {}).get(_CLASS)
    if older is not None and spec.get("ingressClassName", older) != older:
        yield Fault((*route, "ingressClassName"), f"different from the annotation, `{older}`", _ONE_CLASS)


def _backends(spec: Body, route: Route) -> list[tuple[Route, Body]]:
    found: list[tuple[Route, Body]] = []
    if "defaultBackend" in spec:
        found.append(((*route, "defaultBackend"), spec["defaultBackend"]))
    for number, rule in enumerate(spec.get("rules") or ()):
        for index, path in enumerate((rule.get("http") or {}).get("paths") or ()):
            found.append(((*route, "rules", number, "http", "paths", index, "backend"), path["backend"]))
    return found


def _target(backend: Body, route: Route) -> Faults:
    yield from reference(backend.get("resource"), (*route, "resource"))
    if ("service" in backend) == ("resource" in backend):
        hint = "remove one of the two" if "service" in backend else "add `service` with a `name` and a `port`"
        yield Fault(route, "exactly one of `service` and `resource` is required", hint)
    elif "service" in backend:
        wanted = backend["service"].get("port") or {}
        if bool(wanted.get("name")) == bool(wanted.get("number")):
            hint = "remove one of the two" if wanted.get("name") else "add `port.number` or `port.name`"
            yield Fault((*route, "service"), "exactly one of port `name` and port `number` is required", hint)


def _path(path: Body, route: Route) -> Faults:
    text, kind, at = path.get("path", ""), path["pathType"], (*route, "path")
    needed = kind in _TYPES and (text or kind != "ImplementationSpecific")
    if needed and (fault := absolute(text)) is not None:
        yield fault.at(at)
    elif kind in {"Exact", "Prefix"}:
        for part in _NOT_IN_PATHS:
            if part in text:
                yield Fault(at, f"`{text}` contains `{part}`", f"use a path without `{part}`, {_OR_ANY_PATH}")
        if text.endswith(_NOT_AT_END):
            yield Fault(at, f"`{text}` ends with dots", f"remove them, {_OR_ANY_PATH}")
