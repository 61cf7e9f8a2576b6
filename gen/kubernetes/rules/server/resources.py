"""Resource requests and limits of containers and pods.

From `validateResourceRequirements`, `validateContainerResourceName`, `validateResourceClaimNames` and
`validatePodResourceConsistency` of `pkg/apis/core/validation/validation.go`, and `pkg/apis/core/helper/helpers.go`.
"""

from __future__ import annotations

import math
from decimal import Decimal
from functools import lru_cache

from msgspec.structs import replace

from gen.base import Route, near
from gen.kubernetes.objects import Body
from gen.kubernetes.quantity import in_thousandths, is_whole, server_amount
from gen.kubernetes.rules import Fault, Faults, ObjectView, containers, server_rule, unknown_name
from gen.kubernetes.rules.field_checks import FieldChecks, duplicates
from gen.kubernetes.rules.value_checks import dns_label, if_set, not_negative, qualified_name

_STANDARD = frozenset({"cpu", "memory", "ephemeral-storage"})
_OF_PODS = frozenset({"cpu", "memory"})
_HUGE_PAGES = "hugepages-"
_OF_QUOTAS = "requests."
_CLAIMS = FieldChecks({"claims.*.request": if_set(dns_label)})


@server_rule(
    "resources",
    of_pods=True,
    remedy="Write quantities as `500m`, `8` or `16Gi`, GPUs as integers, and requests not above their limits.",
)
def resources(view: ObjectView) -> Faults:
    """A request is above its limit, an extended resource or huge page differs from its limit or is not an integer, or a
    resource is unknown.
    """
    for route, pod in view.pods:
        claims = {claim["name"] for claim in pod.get("resourceClaims") or ()}
        for at, container in containers(pod, route):
            asked, here = container.get("resources") or {}, (*at, "resources")
            yield from _requirements(asked, here, _STANDARD)
            if "claims" in asked:
                yield from _CLAIMS.faults(asked, here)
                yield from _claims(asked["claims"], (*here, "claims"), claims)
        if "overhead" in pod:
            yield from overhead(pod["overhead"], (*route, "overhead"))
        if "resources" in pod:
            yield from _requirements(pod["resources"], (*route, "resources"), _OF_PODS)
            yield from _of_pod(pod, route)


def overhead(found: Body, route: Route) -> Faults:
    """Faults of the resources of a pod as a whole, which are those of a container."""
    for fault in _requirements({"limits": found}, (), _STANDARD):
        yield replace(fault, route=(*route, *fault.route[1:]))


def _requirements(asked: Body, route: Route, standard: frozenset[str]) -> Faults:
    limits, requests = asked.get("limits") or {}, asked.get("requests") or {}
    for field, amounts in (("limits", limits), ("requests", requests)):
        for name, value in amounts.items():
            fault = _fault(name, value, standard)
            if fault is not None:
                yield fault.at((*route, field, name))
    for name, value in requests.items() if requests != limits else ():
        if limits.get(name) != value:
            yield from _against_limit(name, value, limits, (*route, "requests", name))
    without = _OF_PODS.isdisjoint(limits) and _OF_PODS.isdisjoint(requests)
    if without and any(name.startswith(_HUGE_PAGES) for name in (*limits, *requests)):
        hint = "add `memory` or `cpu` to `limits` or `requests`"
        yield Fault(route, "huge pages require `cpu` or `memory`", hint)


@lru_cache(maxsize=4096, typed=True)
def _fault(name: str, value: object, standard: frozenset[str]) -> Fault | None:
    """The fault of one quantity. Cached, because most containers request the same."""
    return _name(name, standard) or _value(name, value)


def _name(name: str, standard: frozenset[str]) -> Fault | None:
    if (fault := qualified_name(name)) is not None:
        return fault
    if "/" not in name or standard == _OF_PODS:
        known = name in standard or name.startswith(_HUGE_PAGES)
        return None if known else _no_resource(name, standard)
    if _is_extended(name) and (name.startswith(_OF_QUOTAS) or qualified_name(f"{_OF_QUOTAS}{name}") is not None):
        short = name.removeprefix(_OF_QUOTAS)
        hint = "use a shorter domain" if short == name else f"use `{short}`; `{_OF_QUOTAS}` is for quotas"
        return Fault((), f"`{name}` is not a valid resource name", hint)
    return None


def _no_resource(name: str, standard: frozenset[str]) -> Fault:
    message = f"`{name}` is not a known resource"
    guess = "" if "gpu" in name.lower() else near(name, standard)
    if guess:
        return Fault((), message, f"did you mean `{guess}`?")
    if standard == _OF_PODS:
        return Fault((), message, "use `cpu`, `memory` or huge pages; other resources are for containers")
    return Fault(
        (), message, "use `cpu`, `memory`, `ephemeral-storage`, or a name with a domain, such as `nvidia.com/gpu`"
    )


def _is_extended(name: str) -> bool:
    return "/" in name and "kubernetes.io/" not in name


def _value(name: str, value: object) -> Fault | None:
    if (fault := not_negative(value)) is not None:
        return fault
    number = in_thousandths(value) or Decimal(0)
    if _is_extended(name) and not is_whole(number):
        message = f"`{name}` must be an integer, not `{value}`"
        return Fault((), message, f"use `{math.ceil(number)}` or another integer")
    if name.startswith(_HUGE_PAGES):
        size = name.removeprefix(_HUGE_PAGES)
        page = server_amount(size) or Decimal(0)
        possible = page > 0 and is_whole(page)
        if not possible or math.ceil(number) % int(page):
            hint = f"use a multiple of `{size}`" if possible else "use a page size, as in `hugepages-2Mi`"
            return Fault((), f"`{value}` is not a multiple of the page size of `{name}`", hint)
    return None


def _against_limit(name: str, value: object, limits: Body, route: Route) -> Faults:
    asked = in_thousandths(value)
    limit = in_thousandths(limits[name]) if name in limits else None
    if _is_extended(name) or name.startswith(_HUGE_PAGES):
        if name not in limits:
            yield Fault(route, f"a request of `{name}` requires the same limit", f"add `{name}: {value}` to `limits`")
        elif asked != limit:
            message = f"the request of `{name}` ({value}) differs from its limit ({limits[name]})"
            yield Fault(route, message, f"set it to `{limits[name]}`, or remove the request")
    elif asked is not None and limit is not None and asked > limit:
        message = f"`{value}` is more than the limit `{limits[name]}`"
        yield Fault(route, message, f"raise the limit to `{value}`, or lower the request")


def _claims(found: list[Body], route: Route, known: set[str]) -> Faults:
    for at, (name, request) in duplicates(found, route, "name", "request"):
        message = f"duplicate claim `{name}`" + (f" of `{request}`" if request else "")
        yield Fault(at, message, "remove one of the two")
    whole = {claim["name"] for claim in found if not claim.get("request")}
    for index, claim in enumerate(found):
        if claim["name"] not in known:
            message = f"the pod has no resource claim `{claim['name']}`"
            yield unknown_name(message, claim["name"], known, "add it to the pod's `resourceClaims`").at(
                (*route, index, "name")
            )
        elif claim.get("request") and claim["name"] in whole:
            hint = "remove this entry, or the one without `request`"
            yield Fault((*route, index), f"another entry already claims all of `{claim['name']}`", hint)


def _of_pod(pod: Body, route: Route) -> Faults:
    at = (*route, "resources")
    if "claims" in pod["resources"]:
        yield Fault((*at, "claims"), "claims are not allowed for a pod", "move them to `resources` of a container")
    limits = pod["resources"].get("limits") or {}
    for here, container in containers({"containers": pod["containers"]}, route):
        for name, value in ((container.get("resources") or {}).get("limits") or {}).items():
            mine, most = in_thousandths(value), in_thousandths(limits.get(name, value))
            if mine is not None and most is not None and mine > most:
                message = f"`{value}` is more than the pod's limit `{limits[name]}`"
                hint = f"lower it to `{limits[name]}`, or raise the limit of the pod"
                yield Fault((*here, "resources", "limits", name), message, hint)
    for name, value in (pod["resources"].get("requests") or {}).items():
        total, all_of_it = _total(pod, name), in_thousandths(value)
        if all_of_it is not None and total > all_of_it:
            hint = "raise it, or lower the requests of the containers"
            yield Fault((*at, "requests", name), f"`{value}` is less than the sum of the containers' requests", hint)


def _total(pod: Body, name: str) -> Decimal:
    """The largest sum of requests at a time: init containers run one by one, before the others."""
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
