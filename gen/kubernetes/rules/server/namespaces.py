"""Namespaces: quotas, limits, disruption budgets, and the labels that select a level of Pod Security.

From `ValidateResourceQuotaSpec` and `ValidateLimitRange` of `pkg/apis/core/validation/validation.go`,
`ValidatePodDisruptionBudgetSpec` of `pkg/apis/policy/validation/validation.go`, and `PolicyToEvaluate` of
`pod-security-admission/api/helpers.go`; the admission plugin is on by default.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

from gen.base import Route, names, near, regex
from gen.kubernetes.objects import Body
from gen.kubernetes.quantity import in_thousandths, is_whole, server_amount
from gen.kubernetes.rules import Fault, Faults, ObjectView, not_one_of, placed, server_rule
from gen.kubernetes.rules.field_checks import VALUES, FieldChecks, selector
from gen.kubernetes.rules.server.workloads import is_more_than_all, number_or_percent
from gen.kubernetes.rules.value_checks import not_negative, one_of, qualified_name, quantity

_COUNTED = names(
    "pods services replicationcontrollers resourcequotas secrets configmaps persistentvolumeclaims "
    "services.nodeports services.loadbalancers"
)
_COMPUTE = {"cpu", "memory", "ephemeral-storage"}
_OF_QUOTA = (
    _COUNTED
    | _COMPUTE
    | {"requests.storage"}
    | {f"{kind}.{name}" for kind in ("requests", "limits") for name in _COMPUTE}
)
_OF_OTHERS = _COMPUTE | _COUNTED | {"storage"}
"""Resources for limits of types other than `Pod` and `Container`."""

_HUGE_PAGES = regex(r"(?:requests\.|limits\.)?hugepages-.+")
_SCOPES = ("Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity")
_SCOPES_WITHOUT_VALUE = {*_SCOPES} - {"PriorityClass"}
_TYPES = ("Pod", "Container", "PersistentVolumeClaim")


@server_rule(
    "quotas",
    "ResourceQuota",
    "LimitRange",
    "policy/PodDisruptionBudget",
    remedy="Use a resource that can be limited, and order minimum, default and maximum.",
)
def quotas(view: ObjectView) -> Faults:
    """A quota, limit range or disruption budget has an unknown resource, an invalid amount or conflicting limits."""
    if view.kind == "ResourceQuota" and not view.is_custom:
        yield from _quota(view.spec, ("spec",))
    elif view.kind == "LimitRange":
        kinds = [limit.get("type") for limit in view.spec.get("limits") or ()]
        for index, limit in enumerate(view.spec.get("limits") or ()):
            at = ("spec", "limits", index)
            if limit.get("type") in kinds[:index]:
                message = f"duplicate type `{limit.get('type')}`"
                yield Fault((*at, "type"), message, "combine the limits of both entries")
            yield from _range(limit, at)
    elif view.kind == "PodDisruptionBudget":
        yield from _budget(view.spec, ("spec",))


def _quota(spec: Body, route: Route) -> Faults:
    for name, value in (spec.get("hard") or {}).items():
        yield from placed(_quota_name(name) or _not_negative(value) or _whole(name, value), (*route, "hard", name))
    for index, scope in enumerate(spec.get("scopes") or ()):
        if scope not in _SCOPES:
            yield not_one_of(scope, _SCOPES).at((*route, "scopes", index))
    entries = (spec.get("scopeSelector") or {}).get("matchExpressions") or ()
    for index, entry in enumerate(entries):
        at = (*route, "scopeSelector", "matchExpressions", index)
        name, operator, values = entry.get("scopeName"), entry.get("operator"), entry.get("values") or []
        if name not in _SCOPES:
            yield not_one_of(name, _SCOPES).at((*at, "scopeName"))
        if operator not in VALUES:
            yield not_one_of(operator, VALUES).at((*at, "operator"))
        elif (operator in {"In", "NotIn"}) != bool(values):
            yield _scope_values(operator, name, given=bool(values)).at((*at, "values"))
        if name in _SCOPES_WITHOUT_VALUE and operator != "Exists":
            hint = "set `operator: Exists`, and remove `values`"
            yield Fault((*at, "operator"), f"the scope `{name}` requires `Exists`", hint)


def _scope_values(operator: str, scope: object, *, given: bool) -> Fault:
    without = scope in _SCOPES_WITHOUT_VALUE
    if given:
        return Fault(
            (), f"`{operator}` takes no values", "remove `values`" if without else "remove `values`, or use `In`"
        )
    return Fault(
        (),
        f"`{operator}` requires values",
        "use the operator `Exists`" if without else "add the name of a priority class",
    )


def _quota_name(name: str) -> Fault | None:
    fault = qualified_name(name)
    if fault is None and "/" not in name and name not in _OF_QUOTA and not _HUGE_PAGES.fullmatch(name):
        hint = "use `count/jobs.batch` for objects, `requests.nvidia.com/gpu` for devices"
        return Fault((), f"`{name}` is not a resource that quotas support", _near_or(hint, name, _OF_QUOTA))
    return fault


def _near_or(hint: str, name: str, known: Iterable[str]) -> str:
    """The nearest name. Names of devices are not compared, because they are not known."""
    guess = "" if "gpu" in name else near(name, known)
    return f"did you mean `{guess}`?" if guess else hint


def _not_negative(value: object) -> Fault | None:
    number = in_thousandths(value)
    return not_negative(value) if number is None or number < 0 else None


def _whole(name: str, value: object) -> Fault | None:
    number = in_thousandths(value)
    counted = name in _COUNTED or ("/" in name and not name.startswith(("requests.", "limits.")))
    if counted and number is not None and not is_whole(number):
        return Fault((), f"`{value}` is not an integer", f"use an integer, such as `{math.ceil(number)}`")
    return None


_FIELDS = ("default", "defaultRequest", "max", "min", "maxLimitRequestRatio")


def _range(limit: Body, route: Route) -> Faults:
    kind = limit.get("type", "")
    if qualified_name(kind) or (kind not in _TYPES and "/" not in kind):
        yield not_one_of(kind, _TYPES).at((*route, "type"))
    if kind == "Pod":
        for field in ("default", "defaultRequest"):
            if limit.get(field):
                yield Fault(
                    (*route, field), "not allowed for the type `Pod`", "move it to an entry of the type `Container`"
                )
    if kind == "PersistentVolumeClaim" and not any("storage" in (limit.get(field) or {}) for field in ("min", "max")):
        yield Fault(route, "a limit for claims requires `min` or `max` of `storage`", "add `storage` to one of the two")
    for field in _FIELDS:
        for name, value in (limit.get(field) or {}).items():
            yield from placed(_limited(kind, name) or quantity(value), (*route, field, name))
    yield from _order(limit, route)


def _limited(kind: str, name: str) -> Fault | None:
    fault = qualified_name(name)
    if fault is not None or "/" in name:
        return fault
    of_pods = kind in {"Pod", "Container"}
    known = _COMPUTE if of_pods else _OF_OTHERS
    if name in known or _HUGE_PAGES.fullmatch(name):
        return None
    hint = f"use {'`cpu`, `memory`, or a device such as `nvidia.com/gpu`' if of_pods else '`storage`'}"
    return Fault((), f"`{name}` is not a resource of a `{kind}`", _near_or(hint, name, known))


_DEFAULTS = ("defaultRequest", "default")
_ORDER = (("min", "max"), _DEFAULTS, *(("min", field) for field in _DEFAULTS), *((field, "max") for field in _DEFAULTS))


def _order(limit: Body, route: Route) -> Faults:
    for low, high in _ORDER:
        for name in (limit.get(low) or {}).keys() & (limit.get(high) or {}).keys():
            one, other = server_amount(limit[low][name]), server_amount(limit[high][name])
            if one is not None and other is not None and one > other:
                hint = f"lower it to `{limit[high][name]}`, or raise `{high}`"
                yield Fault((*route, low, name), f"`{limit[low][name]}` is more than `{high}`", hint)
    for name, value in (limit.get("maxLimitRequestRatio") or {}).items():
        ratio = server_amount(value)
        if ratio is not None and ratio < 1:
            yield Fault((*route, "maxLimitRequestRatio", name), f"`{value}` is less than 1", "use 1 or more")
        lowest, highest = (server_amount((limit.get(field) or {}).get(name, "")) for field in ("min", "max"))
        if ratio and lowest and highest and ratio > highest / lowest:
            hint = "lower it, raise `max`, or lower `min`"
            yield Fault((*route, "maxLimitRequestRatio", name), f"`{value}` is more than `max` divided by `min`", hint)


_BUDGET = FieldChecks(
    {
        "minAvailable": number_or_percent,
        "maxUnavailable": number_or_percent,
        "unhealthyPodEvictionPolicy": one_of("IfHealthyBudget", "AlwaysAllow"),
    }
)


def _budget(spec: Body, route: Route) -> Faults:
    yield from _BUDGET.faults(spec, route)
    if "minAvailable" in spec and "maxUnavailable" in spec:
        message = "`minAvailable` and `maxUnavailable` are mutually exclusive"
        yield Fault((*route, "maxUnavailable"), message, "keep one of the two")
    for field in ("minAvailable", "maxUnavailable"):
        value = spec.get(field)
        if is_more_than_all(value):
            yield Fault((*route, field), f"`{value}` is more than 100%", "use `100%` or less")
    yield from selector(spec.get("selector"), (*route, "selector"))


_PREFIX: Final = "pod-security.kubernetes.io/"
_VERSION = regex(r"latest|v1\.(?:[0-9]|[1-9][0-9]+)")


def _version(value: Any) -> Fault | None:
    hint = "use `latest`, or a version such as `v1.34`"
    return None if _VERSION.fullmatch(value) else Fault((), f"`{value}` is not a version of Pod Security", hint)


_level = one_of("privileged", "baseline", "restricted")
_CHECKS = {
    f"{_PREFIX}{mode}{suffix}": check
    for mode in ("enforce", "audit", "warn")
    for suffix, check in {"": _level, "-version": _version}.items()
}


@server_rule("namespaces", "Namespace", remedy="Use the level `privileged`, `baseline` or `restricted`.")
def namespaces(view: ObjectView) -> Faults:
    """A namespace has a label for Pod Security with an unknown level or version."""
    for key, value in (view.metadata.get("labels") or {}).items():
        check = _CHECKS.get(key)
        if check is not None and (fault := check(value)) is not None:
            yield fault.at(("metadata", "labels", key))
