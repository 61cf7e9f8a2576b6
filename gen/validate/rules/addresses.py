"""The addresses of a service inside the cluster: `clusterIP` and its families.

From `ValidateServiceClusterIPsRelatedFields` of `pkg/apis/core/validation/validation.go`, and `normalizeClusterIPs` and
`initIPFamilyFields` of `pkg/registry/core/service/storage`. Which addresses and families there are is for the cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.validate.forms import ip, one_of
from gen.validate.tables import Table

if TYPE_CHECKING:
    from gen.kubernetes import Body
    from gen.validate.tables import Faults

_FAMILIES = Table(
    {
        "ipFamilies.*": one_of("IPv4", "IPv6"),
        "ipFamilyPolicy": one_of("SingleStack", "PreferDualStack", "RequireDualStack"),
    }
)
_NONE = "None"
_MOST = 2


def is_headless(spec: Body) -> bool:
    return _cluster_ips(spec) == [_NONE]


def _cluster_ips(spec: Body) -> list[str]:
    """With the one that is given alone."""
    found: list[str] = spec.get("clusterIPs") or []
    return found or ([spec["clusterIP"]] if spec.get("clusterIP") else [])


def addresses(spec: Body, kind: str) -> Faults:
    """Faults of the addresses of a service of this type."""
    found = _cluster_ips(spec)
    field = "clusterIPs" if spec.get("clusterIPs") else "clusterIP"
    if kind == "ExternalName":
        for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            if spec.get(name):
                yield ("spec", name), "is not for the type `ExternalName`"
        return
    if kind in {"NodePort", "LoadBalancer"} and found == [_NONE]:
        yield ("spec", "type"), f"a service of type `{kind}` cannot be headless (`{field}` is `{_NONE}`)"
    yield from _FAMILIES.faults(spec, ("spec",))
    if spec.get("clusterIPs") and spec["clusterIPs"][0] != spec.get("clusterIP"):
        yield ("spec", "clusterIPs"), "the first one must be the `clusterIP`"
    if len(found) > _MOST or (_NONE in found and found != [_NONE]):
        yield ("spec", field), f"takes two addresses, or `{_NONE}` alone"
    for index, address in enumerate(found):
        fault = None if address == _NONE else ip(address)
        if fault is not None:
            yield ("spec", field, index) if field == "clusterIPs" else ("spec", field), fault
    yield from _families(spec, found, field)


def _families(spec: Body, found: list[str], field: str) -> Faults:
    families: list[str] = spec.get("ipFamilies") or []
    if len(set(families)) < len(families):
        yield ("spec", "ipFamilies"), "a family is there twice"
    of_found = ["IPv6" if ":" in address else "IPv4" for address in found if address != _NONE]
    if len(set(of_found)) < len(of_found):
        yield ("spec", field), "takes one address of each family"
    if any(family != expected for family, expected in zip(of_found, families, strict=False)):
        yield ("spec", field), "the addresses are not of the families in `ipFamilies`"
    selects_nothing = found == [_NONE] and not spec.get("selector")
    if spec.get("ipFamilyPolicy", "" if selects_nothing else "SingleStack") == "SingleStack":
        for name, values in ((field, of_found), ("ipFamilies", families)):
            if len(values) > 1:
                yield ("spec", name), "two families need an `ipFamilyPolicy` of two"
