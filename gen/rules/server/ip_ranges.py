"""Addresses and ranges of services as objects of their own.

From `ValidateIPAddress` and `ValidateServiceCIDR` of `pkg/apis/networking/validation/validation.go`, and `IsValidIP`
and `IsValidCIDR` of `apimachinery/pkg/util/validation/ip.go`: only the canonical form is valid.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Any

from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks
from gen.rules.name_checks import dns_name
from gen.rules.rule import server
from gen.rules.server.autoscaling import path_segment
from gen.rules.value_checks import if_set

if TYPE_CHECKING:
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_MAX_RANGES = 2


def canonical_ip(value: Any) -> Fault | None:
    try:
        near = str(ipaddress.ip_address(value))
    except ValueError:
        near = ""
    hint = f"use `{near}`" if near else "use an address such as `10.0.0.1` or `2001:db8::1`"
    return None if near and near == value else Fault((), f"`{value}` is not an IP address in canonical form", hint)


def _canonical_range(value: Any) -> Fault | None:
    try:
        near = str(ipaddress.ip_network(value, strict=False)) if "/" in value else ""
    except ValueError:
        near = ""
    hint = f"use `{near}`" if near else "use a range such as `10.0.0.0/24` or `2001:db8::/64`"
    return (
        None if near and near == value else Fault((), f"`{value}` is not a range of addresses in canonical form", hint)
    )


_TABLES = {
    "IPAddress": FieldChecks(
        {
            "spec.parentRef.group": if_set(dns_name),
            "spec.parentRef.resource": path_segment,
            "spec.parentRef.name": path_segment,
            "spec.parentRef.namespace": if_set(path_segment),
        }
    ),
    "ServiceCIDR": FieldChecks({"spec.cidrs.*": _canonical_range}),
}


@server(
    "ip-ranges",
    "networking.k8s.io/IPAddress",
    "networking.k8s.io/ServiceCIDR",
    remedy="Use addresses and ranges in canonical form, and name the object that uses an address.",
)
def ip_ranges(view: ObjectView) -> Faults:
    """An address of a service has no owner, or a range of addresses is invalid."""
    yield from _TABLES[view.kind].faults(view.body, ())
    at, ranges = ("spec", "cidrs"), view.spec.get("cidrs") or []
    if len(ranges) > _MAX_RANGES:
        yield Fault(at, f"more than {_MAX_RANGES} ranges", "keep one for each IP family")
    elif len(ranges) == _MAX_RANGES and len({":" in one for one in ranges}) == 1:
        yield Fault(at, "two ranges of the same IP family", "keep one for each IP family")
    for field in ("resource", "name") if view.kind == "IPAddress" else ():
        parent = view.spec.get("parentRef")
        if parent is not None and field not in parent:
            yield Fault(("spec", "parentRef", field), f"`{field}` is missing", f"add the `{field}` of the owner")
