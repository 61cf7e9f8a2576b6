"""What containers and pods ask for: names of resources, quantities, requests against limits.

From `validateResourceRequirements`, `validateContainerResourceName`, `validateResourceClaimNames` and
`validatePodResourceConsistency` of `pkg/apis/core/validation/validation.go`, and `pkg/apis/core/helper/helpers.go`.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

from gen.validate.amounts import amount, in_thousandths, not_negative
from gen.validate.forms import dns_label, given, qualified_name
from gen.validate.rule import server
from gen.validate.tables import Table, doubled
from gen.validate.view import containers

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.validate.tables import Faults
    from gen.validate.view import View

_STANDARD = frozenset({"cpu", "memory", "ephemeral-storage"})
_OF_PODS = frozenset({"cpu", "memory"})
_HUGE_PAGES = "hugepages-"
_CLAIMS = Table({"claims.*.request": given(dns_label)})


@server(
    "resources",
    of_pods=True,
    remedy="Write amounts as `500m`, `8` or `16Gi`, GPUs as whole numbers, and no request above its limit.",
)
def resources(view: View) -> Faults:
    """Requests are not over limits, extended resources and huge pages are whole and asked for as they are limited."""
    for route, pod in view.pods:
        claims = {claim["name"] for claim in pod.get("resourceClaims") or ()}
        for at, container in containers(pod, route):
            asked, here = container.get("resources") or {}, (*at, "resources")
            yield from _requirements(asked, here, _STANDARD)
            if "claims" in asked:
                yield from _CLAIMS.faults(asked, here)
                yield from _claims(asked["claims"], (*here, "claims"), claims)
        if "overhead" in pod:
            for fault in _requirements({"limits": pod["overhead"]}, route, _STANDARD):
                yield (*route, "overhead", *fault[0][len(route) + 1 :]), fault[1]
        if "resources" in pod:
            yield from _requirements(pod["resources"], (*route, "resources"), _OF_PODS)
            yield from _of_pod(pod, route)


def _requirements(asked: Body, route: Route, standard: frozenset[str]) -> Faults:
    limits, requests = asked.get("limits") or {}, asked.get("requests") or {}
    for field, amounts in (("limits", limits), ("requests", requests)):
        for name, value in amounts.items():
            fault = _fault(name, value, standard)
            if fault is not None:
                yield (*route, field, name), fault
    for name, value in requests.items():
        if limits.get(name) != value:
            yield from _against_limit(name, value, limits, (*route, "requests", name))
    named = limits.keys() | requests.keys()
    if not named & _OF_PODS and any(name.startswith(_HUGE_PAGES) for name in named):
        yield route, "huge pages need `cpu` or `memory` beside them"


@lru_cache(maxsize=4096, typed=True)
def _fault(name: str, value: object, standard: frozenset[str]) -> str | None:
    """Of one amount; most containers ask for what others ask for."""
    return _name(name, standard) or _value(name, value)


def _name(name: str, standard: frozenset[str]) -> str | None:
    if (fault := qualified_name(name)) is not None:
        return fault
    if "/" not in name or standard == _OF_PODS:
        known = name in standard or name.startswith(_HUGE_PAGES)
        return None if known else f"`{name}` is no resource: " + ", ".join(sorted(standard)) + " or one with a domain"
    if _is_extended(name) and (name.startswith("requests.") or qualified_name(f"requests.{name}") is not None):
        return f"`{name}` is no name of a resource"
    return None


def _is_extended(name: str) -> bool:
    return "/" in name and "kubernetes.io/" not in name


def _value(name: str, value: object) -> str | None:
    if (fault := not_negative(value)) is not None:
        return fault
    number = in_thousandths(value) or Decimal(0)
    if _is_extended(name) and number % 1:
        return f"`{name}` is counted in whole numbers, not `{value}`"
    if name.startswith(_HUGE_PAGES):
        page = amount(name.removeprefix(_HUGE_PAGES)) or Decimal(0)
        if page <= 0 or page % 1 or number.__ceil__() % page:
            return f"`{value}` is no multiple of the size that `{name}` says"
    return None


def _against_limit(name: str, value: object, limits: Body, route: Route) -> Faults:
    asked = in_thousandths(value)
    limit = in_thousandths(limits[name]) if name in limits else None
    if _is_extended(name) or name.startswith(_HUGE_PAGES):
        if name not in limits:
            yield route, f"`{name}` cannot be shared: it needs the same limit"
        elif asked != limit:
            yield route, f"`{name}` cannot be shared: the limit is {limits[name]}, not {value}"
    elif asked is not None and limit is not None and asked > limit:
        yield route, f"`{value}` is more than the limit `{limits[name]}`"


def _claims(found: list[Body], route: Route, known: set[str]) -> Faults:
    for at, (name, request) in doubled(found, route, "name", "request"):
        yield at, f"`{name}` is claimed twice" + (f" for `{request}`" if request else "")
    whole = {claim["name"] for claim in found if not claim.get("request")}
    for index, claim in enumerate(found):
        if claim["name"] not in known:
            yield (*route, index, "name"), f"`{claim['name']}` is none of the pod's `resourceClaims`"
        elif claim.get("request") and claim["name"] in whole:
            yield (*route, index), f"`{claim['name']}` is claimed as a whole already"


def _of_pod(pod: Body, route: Route) -> Faults:
    at = (*route, "resources")
    if "claims" in pod["resources"]:
        yield (*at, "claims"), "claims are of containers"
    limits = pod["resources"].get("limits") or {}
    for here, container in containers({"containers": pod["containers"]}, route):
        for name, value in ((container.get("resources") or {}).get("limits") or {}).items():
            mine, most = in_thousandths(value), in_thousandths(limits.get(name, value))
            if mine is not None and most is not None and mine > most:
                yield (*here, "resources", "limits", name), f"`{value}` is more than the pod's limit `{limits[name]}`"
    for name, value in (pod["resources"].get("requests") or {}).items():
        total, all_of_it = _total(pod, name), in_thousandths(value)
        if all_of_it is not None and total > all_of_it:
            yield (*at, "requests", name), f"`{value}` is less than the containers ask for together"


def _total(pod: Body, name: str) -> Decimal:
    """The most that containers ask for at one time: init containers run one by one, before the others."""
    together, beside, most = Decimal(0), Decimal(0), Decimal(0)
    for route, container in containers(pod, ()):
        asked = in_thousandths(((container.get("resources") or {}).get("requests") or {}).get(name, 0)) or Decimal(0)
        if route[0] == "containers":
            together += asked
        elif container.get("restartPolicy") == "Always":
            together, beside = together + asked, beside + asked
            most = max(most, beside)
        else:
            most = max(most, beside + asked)
    return max(together, most)
