"""Devices of dynamic resource allocation: claims, templates of claims and device classes.

From `pkg/apis/resource/validation/validation.go`.
"""

from __future__ import annotations

import json
from typing import Final

from gen.base import Route, regex
from gen.kubernetes.facts.builtin import RESOURCE_CLAIM_TEMPLATE
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Fault, Faults, ObjectView, placed, server_rule, unknown_name
from gen.kubernetes.rules import value_checks as checks
from gen.kubernetes.rules.cel_syntax import syntax_fault
from gen.kubernetes.rules.field_checks import FieldChecks, too_many, unique
from gen.kubernetes.rules.server.storage import template_metadata

_GROUP = "resource.k8s.io"
_VERSIONS: Final = {f"{_GROUP}/v1", f"{_GROUP}/v1beta2"}
"""Older versions have other fields."""
_NAMES: Final = frozenset({"device"})
_TYPES: Final = frozenset({"bool", "dyn"})
_IDENTIFIER = regex(r"[A-Za-z_][A-Za-z0-9_]{0,31}")
_MAX_ENTRIES, _MAX_ALTERNATIVES, _MAX_PARAMETERS = 32, 8, 10 << 10
_REQUEST = FieldChecks(
    {
        "deviceClassName": checks.both(checks.not_empty, checks.dns_name),
        "allocationMode": checks.if_set(checks.one_of("ExactCount", "All")),
        "count": checks.at_least(0),
        "capacity.requests.*": checks.quantity,
        "tolerations.*.key": checks.if_set(checks.qualified_name),
        "tolerations.*.operator": checks.if_set(checks.one_of("Equal", "Exists")),
        "tolerations.*.value": checks.label_value,
        "tolerations.*.effect": checks.if_set(checks.one_of("NoSchedule", "NoExecute")),
    }
)


def _attribute(value: str) -> Fault | None:
    domain, slash, name = value.rpartition("/")
    if not slash:
        hint = f"add the domain of the driver, such as `gpu.example.com/{value or 'a'}`"
        return Fault((), f"`{value}` has no domain", hint)
    if _IDENTIFIER.fullmatch(name) is None:
        hint = "after the domain, use at most 32 letters, digits and `_`, not beginning with a digit"
        return Fault((), f"`{value}` is not a valid attribute", hint)
    return checks.driver_name(domain)


@server_rule(
    "devices",
    f"{_GROUP}/ResourceClaim",
    str(RESOURCE_CLAIM_TEMPLATE),
    f"{_GROUP}/DeviceClass",
    remedy="Name a device class in each request, and refer to requests of the same claim.",
)
def devices(view: ObjectView) -> Faults:
    """A claim or class of devices has an incomplete request, selector or configuration, or an unknown request."""
    if view.body["apiVersion"] not in _VERSIONS:
        return
    if view.kind == "DeviceClass":
        yield from _selectors(view.spec, ("spec",))
        yield from _configurations(view.spec, ("spec",), None)
        return
    if view.kind == RESOURCE_CLAIM_TEMPLATE.kind:
        yield from template_metadata(view.spec, ("spec",))
        yield from _claim((view.spec.get("spec") or {}).get("devices") or {}, ("spec", "spec", "devices"))
    else:
        yield from _claim(view.spec.get("devices") or {}, ("spec", "devices"))


def _claim(claim: Body, route: Route) -> Faults:
    requests = claim.get("requests") or []
    known: set[str] = set()
    for entries in ("requests", "constraints", "config"):
        yield from too_many(claim.get(entries), _MAX_ENTRIES, (*route, entries))
    yield from unique(requests, (*route, "requests"), "name", "request")
    for index, request in enumerate(requests):
        at, name = (*route, "requests", index), request.get("name", "")
        known.add(name)
        known |= {f"{name}/{one.get('name')}" for one in request.get("firstAvailable") or ()}
        yield from _request(request, at)
    for index, constraint in enumerate(claim.get("constraints") or ()):
        at = (*route, "constraints", index)
        yield from _references(constraint, at, known)
        field = next((name for name in ("matchAttribute", "distinctAttribute") if name in constraint), None)
        if field is None:
            yield Fault((*at, "matchAttribute"), "`matchAttribute` is missing", "add the attribute that must match")
        elif (fault := _attribute(constraint[field])) is not None:
            yield fault.at((*at, field))
    yield from _configurations(claim, route, known)


def _request(request: Body, at: Route) -> Faults:
    yield from placed(checks.dns_label(request.get("name", "")), (*at, "name"))
    options = request.get("firstAvailable") or []
    if ("exactly" in request) == bool(options):
        hint = "add `exactly` with `deviceClassName`" if not options else "keep one of the two"
        yield Fault(at, "exactly one of `exactly` and `firstAvailable` is required", hint)
    if "exactly" in request:
        yield from _exact(request["exactly"], (*at, "exactly"))
    yield from too_many(options, _MAX_ALTERNATIVES, (*at, "firstAvailable"))
    yield from unique(options, (*at, "firstAvailable"), "name", "request")
    for index, option in enumerate(options):
        here = (*at, "firstAvailable", index)
        yield from placed(checks.dns_label(option.get("name", "")), (*here, "name"))
        yield from _exact(option, here)


def _exact(request: Body, at: Route) -> Faults:
    yield from _REQUEST.faults(request, at)
    if "deviceClassName" not in request:
        yield Fault((*at, "deviceClassName"), "`deviceClassName` is missing", "add the name of a device class")
    mode, count = request.get("allocationMode"), request.get("count", 0)
    if mode == "All" and count:
        yield Fault((*at, "count"), "not allowed for the mode `All`", "remove it")
    yield from _selectors(request, at)


def _selectors(holder: Body, route: Route) -> Faults:
    yield from too_many(holder.get("selectors"), _MAX_ENTRIES, (*route, "selectors"))
    for index, selector in enumerate(holder.get("selectors") or ()):
        at = (*route, "selectors", index, "cel")
        if "cel" not in selector:
            yield Fault(at, "`cel` is missing", "add `cel` with an `expression` about `device`")
        elif (fault := syntax_fault(selector["cel"].get("expression", ""), _NAMES, _TYPES)) is not None:
            yield fault.at((*at, "expression"))


def _configurations(holder: Body, route: Route, known: set[str] | None) -> Faults:
    for index, found in enumerate(holder.get("config") or ()):
        at = (*route, "config", index)
        if known is not None:
            yield from _references(found, at, known)
        opaque = found.get("opaque")
        if opaque is None:
            yield Fault((*at, "opaque"), "`opaque` is missing", "add `opaque` with `driver` and `parameters`")
            continue
        yield from placed(checks.driver_name(opaque.get("driver", "")), (*at, "opaque", "driver"))
        parameters = opaque.get("parameters")
        if not isinstance(parameters, dict):
            yield Fault((*at, "opaque", "parameters"), "`parameters` is not a mapping", "write the driver's settings")
        elif len(json.dumps(parameters)) > _MAX_PARAMETERS:
            hint = "shorten them"
            yield Fault((*at, "opaque", "parameters"), f"more than {_MAX_PARAMETERS} bytes", hint)


def _references(holder: Body, at: Route, known: set[str]) -> Faults:
    names = holder.get("requests") or []
    for index, name in enumerate(names):
        here = (*at, "requests", index)
        if name not in known:
            yield unknown_name(f"the claim has no request `{name}`", name, known, "add it to `requests`").at(here)
        elif name in names[:index]:
            yield Fault(here, f"duplicate entry `{name}`", "remove one of the two")
