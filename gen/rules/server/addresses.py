"""The addresses of a service inside the cluster: `clusterIP` and IP families.

From `ValidateServiceClusterIPsRelatedFields` of `pkg/apis/core/validation/validation.go`, and `normalizeClusterIPs` and
`initIPFamilyFields` of `pkg/registry/core/service/storage`. Which addresses and families are available depends on the
cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks
from gen.rules.value_checks import ip, one_of

if TYPE_CHECKING:
    from gen.kubernetes import Body
    from gen.rules.fault import Faults

_FAMILIES = FieldChecks(
    {
        "ipFamilies.*": one_of("IPv4", "IPv6"),
        "ipFamilyPolicy": one_of("SingleStack", "PreferDualStack", "RequireDualStack"),
    }
)
_NONE = "None"
_MAX_ADDRESSES = 2


def is_headless(spec: Body) -> bool:
    return _cluster_ips(spec) == [_NONE]


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
        fault = None if address == _NONE else ip(address)
        if fault is not None:
            yield fault.at(("spec", field, index) if field == "clusterIPs" else ("spec", field))
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
