"""Services and their addresses. Which addresses and families are available depends on the cluster.

From `validateService` and `ValidateServiceClusterIPsRelatedFields` of `pkg/apis/core/validation/validation.go`,
`SetDefaults_Service` of `pkg/apis/core/v1/defaults.go`, and `pkg/registry/core/service/storage`.
"""

from __future__ import annotations

from gen.base import Route
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Fault, Faults, ObjectView, placed, server_rule
from gen.kubernetes.rules import value_checks as checks
from gen.kubernetes.rules.field_checks import FieldChecks, duplicates, labels, unique
from gen.kubernetes.rules.server.containers import PROTOCOL

_FAMILIES = FieldChecks(
    {
        "ipFamilies.*": checks.one_of("IPv4", "IPv6"),
        "ipFamilyPolicy": checks.one_of("SingleStack", "PreferDualStack", "RequireDualStack"),
    }
)
_NONE = "None"
_MAX_ADDRESSES = 2


def _cluster_ips(spec: Body) -> list[str]:
    """Including a single `clusterIP`."""
    found: list[str] = spec.get("clusterIPs") or []
    return found or ([spec["clusterIP"]] if spec.get("clusterIP") else [])


def addresses(spec: Body, kind: str) -> Faults:
    """Faults of the addresses of a service of this type."""
    found = _cluster_ips(spec)
    field = "clusterIPs" if spec.get("clusterIPs") else "clusterIP"
    if kind == "ExternalName":
        for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            if spec.get(name):
                yield Fault(("spec", name), "not allowed for the type `ExternalName`", "remove it, or use another type")
        return
    if kind in {"NodePort", "LoadBalancer"} and found == [_NONE]:
        message = f"a service of type `{kind}` cannot be headless (`{field}` is `{_NONE}`)"
        yield Fault(("spec", "type"), message, f"use the type `ClusterIP`, or remove the address `{_NONE}`")
    yield from _FAMILIES.faults(spec, ("spec",))
    if spec.get("clusterIPs") and spec["clusterIPs"][0] != spec.get("clusterIP"):
        hint = f"set `clusterIP: {spec['clusterIPs'][0]}`, or remove `clusterIPs`"
        yield Fault(("spec", "clusterIPs"), "the first entry must be the same as `clusterIP`", hint)
    if len(found) > _MAX_ADDRESSES or (_NONE in found and found != [_NONE]):
        hint = f"keep one IPv4 and one IPv6 address, or only `{_NONE}`"
        yield Fault(("spec", field), f"expected at most two addresses, or only `{_NONE}`", hint)
    for index, address in enumerate(found):
        at = ("spec", field, index) if field == "clusterIPs" else ("spec", field)
        yield from placed(None if address == _NONE else checks.ip(address), at)
    yield from _families(spec, found, field)


def _families(spec: Body, found: list[str], field: str) -> Faults:
    families: list[str] = spec.get("ipFamilies") or []
    if len(set(families)) < len(families):
        yield Fault(("spec", "ipFamilies"), "duplicate IP family", "remove one of the two")
    of_found = ["IPv6" if ":" in address else "IPv4" for address in found if address != _NONE]
    if len(set(of_found)) < len(of_found):
        yield Fault(("spec", field), "two addresses of the same IP family", "keep one IPv4 and one IPv6 address")
    if any(family != expected for family, expected in zip(of_found, families, strict=False)):
        hint = "remove `ipFamilies`, or list the families in the order of the addresses"
        yield Fault(("spec", field), "the addresses do not match `ipFamilies`", hint)
    selects_nothing = found == [_NONE] and not spec.get("selector")
    if spec.get("ipFamilyPolicy", "" if selects_nothing else "SingleStack") == "SingleStack":
        for name, values in ((field, of_found), ("ipFamilies", families)):
            if len(values) > 1:
                hint = "set `ipFamilyPolicy: PreferDualStack`, or keep one of the two"
                yield Fault(("spec", name), "two IP families require a dual-stack `ipFamilyPolicy`", hint)


_SERVICE = FieldChecks(
    {
        "type": checks.if_set(checks.one_of("ClusterIP", "NodePort", "LoadBalancer", "ExternalName")),
        "sessionAffinity": checks.if_set(checks.one_of("None", "ClientIP")),
        "internalTrafficPolicy": checks.one_of("Cluster", "Local"),
        "externalTrafficPolicy": checks.if_set(checks.one_of("Cluster", "Local")),
        "trafficDistribution": checks.one_of("PreferClose", "PreferSameZone", "PreferSameNode"),
        "externalIPs.*": checks.endpoint_ip,
        "loadBalancerSourceRanges.*": checks.cidr,
        "healthCheckNodePort": checks.if_set(checks.port),
        "ports.*.name": checks.if_set(checks.dns_label),
        "ports.*.port": checks.port,
        "ports.*.protocol": PROTOCOL,
        "ports.*.targetPort": checks.if_set(checks.port_or_name),
        "ports.*.nodePort": checks.if_set(checks.port),
        "ports.*.appProtocol": checks.qualified_name,
    }
)
_STICKY = FieldChecks({"sessionAffinityConfig.clientIP.timeoutSeconds": checks.between(1, 86400)})
_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"
_FOR_LOAD_BALANCERS = Fault((), "only allowed for the type `LoadBalancer`", "remove it, or use that type")
_OF_LOAD_BALANCERS = ("allocateLoadBalancerNodePorts", "loadBalancerClass", "loadBalancerSourceRanges")


@server_rule("services", "Service", remedy="Name each of several ports, and remove fields that are for another type.")
def services(view: ObjectView) -> Faults:
    """A service has no ports, unnamed or duplicate ports, or fields that do not match its type."""
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
        yield from FieldChecks({"loadBalancerClass": checks.qualified_name}).faults(spec, route)
    if kind == "ExternalName":
        name = spec.get("externalName", "").removesuffix(".")
        yield from placed(checks.dns_name(name), (*route, "externalName"))


def _ports(spec: Body, kind: str, route: Route) -> Faults:
    found = spec.get("ports") or []
    if not found and kind != "ExternalName" and _cluster_ips(spec) != [_NONE]:
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
    yield from unique(named, route, "name", "port name")
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
        yield from placed(checks.cidr(value), at)
