"""Limits of a namespace: quotas, ranges and disruption budgets.

From `ValidateResourceQuotaSpec` and `ValidateLimitRange` of `pkg/apis/core/validation/validation.go`, and
`ValidatePodDisruptionBudgetSpec` of `pkg/apis/policy/validation/validation.go`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gen.validate.amounts import amount, in_thousandths, quantity
from gen.validate.forms import one_of, qualified_name
from gen.validate.rule import server
from gen.validate.rules.workloads import number_or_percent
from gen.validate.selectors import selector
from gen.validate.tables import Table
from gen.validate.told import none_of

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.validate.tables import Faults
    from gen.validate.view import View

_COUNTED = {"pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps"} | {
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
}
_COMPUTE = {"cpu", "memory", "ephemeral-storage"}
_OF_QUOTA = (
    _COUNTED
    | _COMPUTE
    | {"requests.storage"}
    | {f"{kind}.{name}" for kind in ("requests", "limits") for name in _COMPUTE}
)
_HUGE_PAGES = re.compile(r"(?:requests\.|limits\.)?hugepages-.+")
_SCOPES = ("Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity")
_SCOPES_WITHOUT_VALUE = {*_SCOPES} - {"PriorityClass"}
_TYPES = ("Pod", "Container", "PersistentVolumeClaim")


@server(
    "quotas",
    "ResourceQuota",
    "LimitRange",
    "policy/PodDisruptionBudget",
    remedy="Use a resource that can be limited, and keep minimum, default and maximum in order.",
)
def quotas(view: View) -> Faults:
    """Quotas, ranges and budgets are about known resources with possible amounts."""
    if view.kind == "ResourceQuota" and not view.is_custom:
        yield from _quota(view.spec, ("spec",))
    elif view.kind == "LimitRange":
        kinds = [limit.get("type") for limit in view.spec.get("limits") or ()]
        for index, limit in enumerate(view.spec.get("limits") or ()):
            at = ("spec", "limits", index)
            if limit.get("type") in kinds[:index]:
                yield (*at, "type"), f"`{limit.get('type')}` is there twice"
            yield from _range(limit, at)
    elif view.kind == "PodDisruptionBudget":
        yield from _budget(view.spec, ("spec",))


def _quota(spec: Body, route: Route) -> Faults:
    for name, value in (spec.get("hard") or {}).items():
        fault = _quota_name(name) or _not_negative(value) or _whole(name, value)
        if fault is not None:
            yield (*route, "hard", name), fault
    for index, scope in enumerate(spec.get("scopes") or ()):
        if scope not in _SCOPES:
            yield (*route, "scopes", index), one_of(*_SCOPES)(scope) or ""
    entries = (spec.get("scopeSelector") or {}).get("matchExpressions") or ()
    for index, entry in enumerate(entries):
        at = (*route, "scopeSelector", "matchExpressions", index)
        name, operator, values = entry.get("scopeName"), entry.get("operator"), entry.get("values") or []
        if name not in _SCOPES:
            yield (*at, "scopeName"), one_of(*_SCOPES)(name) or ""
        if operator not in {"In", "NotIn", "Exists", "DoesNotExist"}:
            yield (*at, "operator"), one_of("In", "NotIn", "Exists", "DoesNotExist")(operator) or ""
        elif (operator in {"In", "NotIn"}) != bool(values):
            yield (*at, "values"), f"`{operator}` {'takes no' if values else 'needs'} values"
        if name in _SCOPES_WITHOUT_VALUE and operator != "Exists":
            yield (*at, "operator"), f"of the scope `{name}` it is `Exists`"


def _quota_name(name: str) -> str | None:
    fault = qualified_name(name)
    if fault is None and "/" not in name and name not in _OF_QUOTA and not _HUGE_PAGES.fullmatch(name):
        return f"`{name}` is no resource that a quota counts"
    return fault


def _not_negative(value: Any) -> str | None:
    number = in_thousandths(value)
    return quantity(value) if number is None else f"`{value}` is negative" if number < 0 else None


def _whole(name: str, value: Any) -> str | None:
    number = in_thousandths(value)
    counted = name in _COUNTED or ("/" in name and not name.startswith(("requests.", "limits.")))
    return f"`{value}` is not whole" if counted and number is not None and number % 1 else None


_FIELDS = ("default", "defaultRequest", "max", "min", "maxLimitRequestRatio")


def _range(limit: Body, route: Route) -> Faults:
    kind = limit.get("type", "")
    if qualified_name(kind) or (kind not in _TYPES and "/" not in kind):
        yield (*route, "type"), none_of(kind, ("Pod", "Container", "PersistentVolumeClaim"))
    if kind == "Pod":
        for field in ("default", "defaultRequest"):
            if limit.get(field):
                yield (*route, field), "is not for the type `Pod`"
    if kind == "PersistentVolumeClaim" and not any("storage" in (limit.get(field) or {}) for field in ("min", "max")):
        yield route, "of claims it says `min` or `max` of `storage`"
    for field in _FIELDS:
        for name, value in (limit.get(field) or {}).items():
            fault = _limited(kind, name) or quantity(value)
            if fault is not None:
                yield (*route, field, name), fault
    yield from _order(limit, route)


def _limited(kind: str, name: str) -> str | None:
    fault = qualified_name(name)
    if fault is not None or "/" in name:
        return fault
    if kind in {"Pod", "Container"}:
        known = name in _COMPUTE or bool(_HUGE_PAGES.fullmatch(name))
    else:
        known = name in _COMPUTE | _COUNTED | {"storage"} or bool(_HUGE_PAGES.fullmatch(name))
    return None if known else f"`{name}` is no resource of a `{kind}`"


_DEFAULTS = ("defaultRequest", "default")
_ORDER = (("min", "max"), _DEFAULTS, *(("min", field) for field in _DEFAULTS), *((field, "max") for field in _DEFAULTS))


def _order(limit: Body, route: Route) -> Faults:
    for low, high in _ORDER:
        for name in (limit.get(low) or {}).keys() & (limit.get(high) or {}).keys():
            one, other = amount(limit[low][name]), amount(limit[high][name])
            if one is not None and other is not None and one > other:
                yield (*route, low, name), f"`{limit[low][name]}` is more than `{high}`"
    for name, value in (limit.get("maxLimitRequestRatio") or {}).items():
        ratio = amount(value)
        if ratio is not None and ratio < 1:
            yield (*route, "maxLimitRequestRatio", name), f"`{value}` is less than 1"
        lowest, highest = (amount((limit.get(field) or {}).get(name, "")) for field in ("min", "max"))
        if ratio and lowest and highest and ratio > highest / lowest:
            yield (*route, "maxLimitRequestRatio", name), f"`{value}` is more than `max` over `min`"


_BUDGET = Table(
    {
        "minAvailable": number_or_percent,
        "maxUnavailable": number_or_percent,
        "unhealthyPodEvictionPolicy": one_of("IfHealthyBudget", "AlwaysAllow"),
    }
)


def _budget(spec: Body, route: Route) -> Faults:
    yield from _BUDGET.faults(spec, route)
    if "minAvailable" in spec and "maxUnavailable" in spec:
        yield (*route, "maxUnavailable"), "`minAvailable` and `maxUnavailable` exclude each other"
    for field in ("minAvailable", "maxUnavailable"):
        value = spec.get(field)
        if isinstance(value, str) and re.fullmatch("[0-9]+%", value) and int(value[:-1]) > 100:  # noqa: PLR2004 - percent
            yield (*route, field), f"`{value}` is more than all"
    yield from selector(spec.get("selector"), (*route, "selector"))
