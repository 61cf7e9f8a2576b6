"""Network policies.

From `ValidateNetworkPolicySpec` of `pkg/apis/networking/validation/validation.go`.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks
from gen.rules.rule import server
from gen.rules.selectors import selector
from gen.rules.server.ports import PROTOCOLS
from gen.rules.value_checks import cidr, one_of, port_or_name

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_POLICY = FieldChecks(
    {
        "policyTypes.*": one_of("Ingress", "Egress"),
        **{f"{way}.*.ports.*.protocol": one_of(*PROTOCOLS) for way in ("ingress", "egress")},
        **{f"{way}.*.ports.*.port": port_or_name for way in ("ingress", "egress")},
    }
)
_MAX_TYPES, _LAST_PORT = 2, 65535


@server(
    "network-policies",
    "networking.k8s.io/NetworkPolicy",
    remedy="Keep either `ipBlock` or selectors in a peer.",
)
def network_policies(view: ObjectView) -> Faults:
    """A network policy has an empty peer, a peer with `ipBlock` and selectors, or an invalid port or range."""
    if view.kind != "NetworkPolicy" or view.is_custom:
        return
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
    fault = cidr(block["cidr"]) if block["cidr"] else Fault((), "`cidr` is missing", "use a range such as `10.0.0.0/8`")
    if fault is not None:
        yield fault.at((*at, "cidr"))
        return
    whole = ipaddress.ip_network(block["cidr"].strip(), strict=False)
    for index, value in enumerate(block.get("except") or ()):
        fault = cidr(value)
        if fault is None:
            part = ipaddress.ip_network(value.strip(), strict=False)
            inside = part.version == whole.version and part.prefixlen > whole.prefixlen and _within(part, whole)
            if not inside:
                hint = f"use a smaller range inside `{block['cidr']}`, or remove it"
                fault = Fault((), f"`{value}` is not inside `{block['cidr']}`", hint)
        if fault is not None:
            yield fault.at((*at, "except", index))


def _within(part: ipaddress.IPv4Network | ipaddress.IPv6Network, whole: object) -> bool:
    return part.network_address in whole  # type: ignore[operator] # both are of one version here
