"""Endpoints and endpoint slices.

From `validateEndpointSubsets` of `pkg/apis/core/validation/validation.go` and `ValidateEndpointSlice` of
`pkg/apis/discovery/validation/validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gen.rules.fault import Fault, not_one_of
from gen.rules.field_checks import FieldChecks, duplicates
from gen.rules.name_checks import dns_label, dns_name, label_value, qualified_name
from gen.rules.rule import server
from gen.rules.server.ports import PROTOCOLS
from gen.rules.value_checks import endpoint_ip, if_set, one_of, port

if TYPE_CHECKING:
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_ADDRESS = {"ip": endpoint_ip, "hostname": if_set(dns_label), "nodeName": dns_name}
_PROTOCOL = one_of(*PROTOCOLS)
_SUBSET = FieldChecks(
    {
        **{
            f"{kind}.*.{name}": check for kind in ("addresses", "notReadyAddresses") for name, check in _ADDRESS.items()
        },
        "ports.*.port": port,
        "ports.*.name": if_set(dns_label),
        "ports.*.protocol": if_set(_PROTOCOL),
        "ports.*.appProtocol": qualified_name,
    }
)
_SLICE = FieldChecks(
    {
        "endpoints.*.hostname": dns_label,
        "endpoints.*.nodeName": dns_name,
        "endpoints.*.hints.forZones.*.name": label_value,
        "endpoints.*.hints.forNodes.*.name": dns_name,
        "ports.*.name": if_set(dns_label),
        "ports.*.protocol": _PROTOCOL,
        "ports.*.appProtocol": qualified_name,
    }
)
_TYPES: Final = ("FQDN", "IPv4", "IPv6")
_MAX_ADDRESSES, _MAX_HINTS = 100, 8


@server(
    "endpoints",
    "Endpoints",
    "discovery.k8s.io/EndpointSlice",
    remedy="Set an address type, and at least one address of that type for each endpoint.",
)
def endpoints(view: ObjectView) -> Faults:
    """Endpoints have no address, an invalid address or an invalid port."""
    if view.kind == "Endpoints":
        for index, subset in enumerate(view.body.get("subsets") or ()):
            yield from _subset(subset, index)
    else:
        yield from _slice(view.body)


def _subset(subset: Body, index: int) -> Faults:
    at = ("subsets", index)
    yield from _SUBSET.faults(subset, at)
    if not subset.get("addresses") and not subset.get("notReadyAddresses"):
        yield Fault(at, "`addresses` or `notReadyAddresses` is required", "add an address")
    ports = subset.get("ports") or []
    for number, entry in enumerate(ports):
        if len(ports) > 1 and not entry.get("name"):
            yield Fault((*at, "ports", number, "name"), "a name is required with several ports", "add a `name`")


def _slice(body: Body) -> Faults:
    yield from _SLICE.faults(body, ())
    kind = body["addressType"]
    if kind not in _TYPES:
        yield not_one_of(kind, _TYPES).at(("addressType",))
    for at, (name,) in duplicates([{"name": "", **one} for one in body.get("ports") or ()], ("ports",), "name"):
        yield Fault((*at, "name"), f"duplicate port name `{name}`", "rename one of the two")
    for index, endpoint in enumerate(body.get("endpoints") or ()):
        at, addresses = ("endpoints", index), endpoint.get("addresses") or []
        if not 0 < len(addresses) <= _MAX_ADDRESSES:
            yield Fault((*at, "addresses"), f"expected 1 to {_MAX_ADDRESSES} addresses", "add or remove addresses")
        for number, address in enumerate(addresses if kind in _TYPES else ()):
            if (fault := _address(address, kind)) is not None:
                yield fault.at((*at, "addresses", number))
        for field, noun in (("forZones", "zone"), ("forNodes", "node")):
            names = [hint.get("name") for hint in (endpoint.get("hints") or {}).get(field) or ()]
            if len(names) > _MAX_HINTS or len(set(names)) < len(names):
                hint = f"remove the others, and list each {noun} once"
                yield Fault((*at, "hints", field), f"more than {_MAX_HINTS} {noun}s, or duplicates", hint)


def _address(value: Any, kind: str) -> Fault | None:
    if kind == "FQDN":
        if "." in value and dns_name(value.removesuffix(".")) is None:
            return None
        return Fault((), f"`{value}` is not a full domain name", "use a name such as `db.example.com`")
    fault = endpoint_ip(value)
    if fault is None and (":" in value) != (kind == "IPv6"):
        return Fault((), f"`{value}` is not an {kind} address", f"use an {kind} address, or change `addressType`")
    return fault
