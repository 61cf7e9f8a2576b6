"""Ingresses and network policies.

From `ValidateIngressSpec` and `ValidateNetworkPolicySpec` of `pkg/apis/networking/validation/validation.go`.
"""

from __future__ import annotations

import ipaddress
from typing import Any

from gen.base import Route
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Fault, Faults, ObjectView, placed, server_rule
from gen.kubernetes.rules import value_checks as checks
from gen.kubernetes.rules.field_checks import FieldChecks, selector
from gen.kubernetes.rules.server.containers import PROTOCOLS
from gen.kubernetes.rules.server.storage import reference

_TYPES = ("Exact", "Prefix", "ImplementationSpecific")
_NOT_IN_PATHS = ("//", "/./", "/../", "%2f", "%2F")
_NOT_AT_END = ("/..", "/.")
_OR_ANY_PATH = "or set `pathType: ImplementationSpecific`"
_CLASS = "kubernetes.io/ingress.class"
_ONE_CLASS = f"remove the annotation `{_CLASS}`"


def _host(value: object) -> Fault | None:
    if checks.ip(value) is None:
        return Fault((), f"`{value}` is an IP address", "use a DNS name, or remove `host` for all hosts")
    return _named(value)


def _named(value: Any) -> Fault | None:
    return checks.dns_wildcard(value) if "*" in value else checks.dns_name(value)


_INGRESS = FieldChecks(
    {
        "ingressClassName": checks.dns_name,
        "rules.*.host": checks.if_set(_host),
        "rules.*.http.paths": checks.not_empty,
        "rules.*.http.paths.*.pathType": checks.one_of(*_TYPES),
        "tls.*.hosts.*": _named,
        "tls.*.secretName": checks.if_set(checks.dns_name),
    }
)
_BACKEND = FieldChecks(
    {
        "service.port.name": checks.if_set(checks.port_name),
        "service.port.number": checks.if_set(checks.port),
        "resource.apiGroup": checks.dns_name,
        "resource.kind": checks.path_segment,
        "resource.name": checks.path_segment,
    }
)


@server_rule(
    "ingresses",
    "networking.k8s.io/Ingress",
    remedy="Give each path a `pathType` and a backend with a service and one port.",
)
def ingresses(view: ObjectView) -> Faults:
    """An ingress has no rules, or an invalid host, path or backend."""
    spec, route = view.spec, ("spec",)
    yield from _INGRESS.faults(spec, route)
    if not spec.get("rules") and "defaultBackend" not in spec:
        yield Fault(route, "`rules` or `defaultBackend` is required", "add one of the two")
    name = checks.dns_label if view.minor >= checks.ANY_SERVICE_NAME_SINCE else checks.dns_1035_label
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
    if needed and (fault := checks.absolute(text)) is not None:
        yield fault.at(at)
    elif kind in {"Exact", "Prefix"}:
        for part in _NOT_IN_PATHS:
            if part in text:
                yield Fault(at, f"`{text}` contains `{part}`", f"use a path without `{part}`, {_OR_ANY_PATH}")
        if text.endswith(_NOT_AT_END):
            yield Fault(at, f"`{text}` ends with dots", f"remove them, {_OR_ANY_PATH}")


_POLICY = FieldChecks(
    {
        "policyTypes.*": checks.one_of("Ingress", "Egress"),
        **{f"{way}.*.ports.*.protocol": checks.one_of(*PROTOCOLS) for way in ("ingress", "egress")},
        **{f"{way}.*.ports.*.port": checks.port_or_name for way in ("ingress", "egress")},
    }
)
_MAX_TYPES, _LAST_PORT = 2, 65535


@server_rule(
    "network-policies", "networking.k8s.io/NetworkPolicy", remedy="Keep either `ipBlock` or selectors in a peer."
)
def network_policies(view: ObjectView) -> Faults:
    """A network policy has an empty peer, a peer with `ipBlock` and selectors, or an invalid port or range."""
    spec, route = view.spec, ("spec",)
    yield from selector(spec.get("podSelector"), (*route, "podSelector"))
    yield from _POLICY.faults(spec, route)
    if len(spec.get("policyTypes") or ()) > _MAX_TYPES:
        hint = "keep `Ingress` and `Egress` once each"
        yield Fault((*route, "policyTypes"), "more than two policy types", hint)
    for way, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(way) or ()):
            for number, entry in enumerate(rule.get("ports") or ()):
                yield from _port(entry, (*route, way, index, "ports", number))
            for number, peer in enumerate(rule.get(peers) or ()):
                yield from _peer(peer, (*route, way, index, peers, number))


def _port(entry: Body, route: Route) -> Faults:
    if "endPort" not in entry:
        return
    first = entry.get("port")
    if first is None:
        hint = "add `port` with the first number of the range, or remove `endPort`"
        yield Fault((*route, "endPort"), "`endPort` requires `port`", hint)
    elif isinstance(first, str):
        hint = f"set `port` to the number of `{first}`, or remove `endPort`"
        yield Fault((*route, "endPort"), "`endPort` requires a numeric `port`", hint)
    elif not first <= entry["endPort"] <= _LAST_PORT:
        message = f"{entry['endPort']} is not between `port` and {_LAST_PORT}"
        hint = f"use a number from {first} to {_LAST_PORT}" if first <= _LAST_PORT else "lower `port` first"
        yield Fault((*route, "endPort"), message, hint)


def _peer(peer: Body, route: Route) -> Faults:
    if not peer:
        hint = f"add `podSelector: {{}}` for all pods of the namespace, or remove `{route[-2]}` for all peers"
        yield Fault(route, "empty peer", hint)
    for field in ("podSelector", "namespaceSelector"):
        yield from selector(peer.get(field), (*route, field))
    if "ipBlock" not in peer:
        return
    if len(peer) > 1:
        hint = "move the other fields to a separate entry, or remove them"
        yield Fault(route, "`ipBlock` cannot be combined with selectors", hint)
    block, at = peer["ipBlock"], (*route, "ipBlock")
    fault = (
        checks.cidr(block["cidr"])
        if block["cidr"]
        else Fault((), "`cidr` is missing", "use a range such as `10.0.0.0/8`")
    )
    if fault is not None:
        yield fault.at((*at, "cidr"))
        return
    whole = ipaddress.ip_network(block["cidr"].strip(), strict=False)
    for index, value in enumerate(block.get("except") or ()):
        fault = checks.cidr(value)
        if fault is None:
            part = ipaddress.ip_network(value.strip(), strict=False)
            inside = part.version == whole.version and part.prefixlen > whole.prefixlen and _within(part, whole)
            if not inside:
                hint = f"use a smaller range inside `{block['cidr']}`, or remove it"
                fault = Fault((), f"`{value}` is not inside `{block['cidr']}`", hint)
        yield from placed(fault, (*at, "except", index))


def _within(part: ipaddress.IPv4Network | ipaddress.IPv6Network, whole: object) -> bool:
    return part.network_address in whole  # type: ignore[operator] # both are of one version here
