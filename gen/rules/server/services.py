"""Services: type, ports and traffic policies.

From `validateService` of `pkg/apis/core/validation/validation.go` and `SetDefaults_Service` of
`pkg/apis/core/v1/defaults.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks, duplicates
from gen.rules.name_checks import dns_label, dns_name, qualified_name
from gen.rules.rule import server
from gen.rules.selectors import labels
from gen.rules.server.addresses import addresses, is_headless
from gen.rules.server.ports import PROTOCOL
from gen.rules.value_checks import between, cidr, endpoint_ip, if_set, one_of, port, port_or_name

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_SERVICE = FieldChecks(
    {
        "type": if_set(one_of("ClusterIP", "NodePort", "LoadBalancer", "ExternalName")),
        "sessionAffinity": if_set(one_of("None", "ClientIP")),
        "internalTrafficPolicy": one_of("Cluster", "Local"),
        "externalTrafficPolicy": if_set(one_of("Cluster", "Local")),
        "trafficDistribution": one_of("PreferClose", "PreferSameZone", "PreferSameNode"),
        "externalIPs.*": endpoint_ip,
        "loadBalancerSourceRanges.*": cidr,
        "healthCheckNodePort": if_set(port),
        "ports.*.name": if_set(dns_label),
        "ports.*.port": port,
        "ports.*.protocol": PROTOCOL,
        "ports.*.targetPort": if_set(port_or_name),
        "ports.*.nodePort": if_set(port),
        "ports.*.appProtocol": qualified_name,
    }
)
_STICKY = FieldChecks({"sessionAffinityConfig.clientIP.timeoutSeconds": between(1, 86400)})
_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"
_FOR_LOAD_BALANCERS = Fault((), "only allowed for the type `LoadBalancer`", "remove it, or use that type")
_OF_LOAD_BALANCERS = ("allocateLoadBalancerNodePorts", "loadBalancerClass", "loadBalancerSourceRanges")


@server(
    "services",
    "Service",
    remedy="Name each of several ports, and remove fields that are for another type.",
)
def services(view: ObjectView) -> Faults:
    """A service has no ports, unnamed or duplicate ports, or fields that do not match its type."""
    if view.kind != "Service":
        return
    spec, route = view.spec, ("spec",)
    kind = spec.get("type") or "ClusterIP"
    yield from _SERVICE.faults(spec, route)
    yield from labels(spec.get("selector"), (*route, "selector"))
    if spec.get("sessionAffinity") == "ClientIP":
        yield from _STICKY.faults(spec, route)
    yield from _ports(spec, kind, (*route, "ports"))
    yield from addresses(spec, kind)
    yield from _outside(spec, kind, route)
    yield from _ranges(view.metadata.get("annotations") or {}, spec, kind)
    if kind == "LoadBalancer" and "loadBalancerClass" in spec:
        yield from FieldChecks({"loadBalancerClass": qualified_name}).faults(spec, route)
    if kind == "ExternalName":
        yield from _external_name(spec.get("externalName", ""), (*route, "externalName"))


def _ports(spec: Body, kind: str, route: Route) -> Faults:
    found = spec.get("ports") or []
    if not found and kind != "ExternalName" and not is_headless(spec):
        yield Fault(route, "at least one port is required", "add one to `ports`")
    for index, entry in enumerate(found):
        if len(found) > 1 and not entry.get("name"):
            yield Fault((*route, index), "a name is required for each of several ports", "add a `name`")
        if kind == "ClusterIP" and entry.get("nodePort"):
            hint = "remove it, or use the type `NodePort`"
            yield Fault((*route, index, "nodePort"), "not allowed for the type `ClusterIP`", hint)
    if len(found) > 1:
        yield from _duplicates(found, route)


def _duplicates(found: list[Body], route: Route) -> Faults:
    named = [{"name": entry.get("name") or index} for index, entry in enumerate(found)]
    for at, (name,) in duplicates(named, route, "name"):
        yield Fault((*at, "name"), f"duplicate port name `{name}`", "rename one of the two")
    with_protocol = [{**entry, "protocol": entry.get("protocol") or "TCP"} for entry in found]
    for at, (number, protocol) in duplicates(with_protocol, route, "port", "protocol"):
        yield _twice("port", number, protocol).at((*at, "port"))
    if not any("nodePort" in entry for entry in found):
        return
    on_nodes = [{**entry, "nodePort": entry.get("nodePort") or -index} for index, entry in enumerate(with_protocol, 1)]
    for at, (number, protocol) in duplicates(on_nodes, route, "nodePort", "protocol"):
        yield _twice("nodePort", number, protocol).at((*at, "nodePort"))


def _twice(field: str, number: int, protocol: str) -> Fault:
    return Fault((), f"duplicate {protocol} port {number}", f"change one of the two, in `{field}`")


def _outside(spec: Body, kind: str, route: Route) -> Faults:
    reachable = kind in {"LoadBalancer", "NodePort"} or (kind == "ClusterIP" and bool(spec.get("externalIPs")))
    if spec.get("externalTrafficPolicy") and not reachable:
        hint = "remove it, or use the type `NodePort` or `LoadBalancer`"
        yield Fault((*route, "externalTrafficPolicy"), "only allowed for services with external traffic", hint)
    checked = kind == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"
    if spec.get("healthCheckNodePort") and not checked:
        message = "only allowed for the type `LoadBalancer` with `externalTrafficPolicy: Local`"
        hint = "remove it, or set `externalTrafficPolicy: Local`" if kind == "LoadBalancer" else "remove it"
        yield Fault((*route, "healthCheckNodePort"), message, hint)
    for field in _OF_LOAD_BALANCERS:
        if kind != "LoadBalancer" and field in spec and spec[field] != []:
            yield _FOR_LOAD_BALANCERS.at((*route, field))


def _ranges(annotations: Body, spec: Body, kind: str) -> Faults:
    if _RANGES not in annotations or spec.get("loadBalancerSourceRanges"):
        return
    at = ("metadata", "annotations", _RANGES)
    if kind != "LoadBalancer":
        yield _FOR_LOAD_BALANCERS.at(at)
    for value in annotations[_RANGES].split(",") if annotations[_RANGES].strip() else ():
        fault = cidr(value)
        if fault is not None:
            yield fault.at(at)


def _external_name(name: str, route: Route) -> Faults:
    fault = dns_name(name.removesuffix("."))
    if fault is not None:
        yield fault.at(route)
