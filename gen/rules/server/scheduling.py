"""Tolerations and topology spread constraints.

From `ValidateTolerations` and `validateTopologySpreadConstraints` of `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks, duplicates
from gen.rules.name_checks import label_value, qualified_name
from gen.rules.rule import server
from gen.rules.selectors import selector
from gen.rules.value_checks import at_least, if_set, not_empty, one_of

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_POLICY = one_of("Honor", "Ignore")
_POD = FieldChecks(
    {
        "tolerations.*.key": if_set(qualified_name),
        "tolerations.*.operator": if_set(one_of("Equal", "Exists")),
        "tolerations.*.effect": if_set(one_of("NoSchedule", "PreferNoSchedule", "NoExecute")),
        "topologySpreadConstraints.*.maxSkew": at_least(1),
        "topologySpreadConstraints.*.minDomains": at_least(1),
        "topologySpreadConstraints.*.topologyKey": not_empty,
        "topologySpreadConstraints.*.whenUnsatisfiable": one_of("DoNotSchedule", "ScheduleAnyway"),
        "topologySpreadConstraints.*.nodeAffinityPolicy": _POLICY,
        "topologySpreadConstraints.*.nodeTaintsPolicy": _POLICY,
    }
)


@server(
    "scheduling",
    of_pods=True,
    remedy="Set `operator: Exists` in a toleration without a key, and `effect: NoExecute` with `tolerationSeconds`.",
)
def scheduling(view: ObjectView) -> Faults:
    """A toleration or topology spread constraint is incomplete or contradicts itself."""
    for route, pod in view.pods:
        yield from _POD.faults(pod, route)
        for index, found in enumerate(pod.get("tolerations") or ()):
            yield from toleration(found, (*route, "tolerations", index))
        if spread := pod.get("topologySpreadConstraints"):
            yield from _spread(spread, (*route, "topologySpreadConstraints"))


def toleration(found: Body, route: Route) -> Faults:
    operator, value = found.get("operator", ""), found.get("value", "")
    if not found.get("key") and operator != "Exists":
        hint = "add the `key` of the taint, or use `Exists` to tolerate all taints"
        yield Fault((*route, "operator"), "must be `Exists` without a `key`", hint)
    if operator == "Exists" and value:
        yield Fault((*route, "value"), "`Exists` takes no value", "remove `value`, or use the operator `Equal`")
    fault = label_value(value) if operator in {"", "Equal"} else None
    if fault is not None:
        yield fault.at((*route, "value"))
    if "tolerationSeconds" in found and found.get("effect") != "NoExecute":
        hint = "remove it, or set `effect: NoExecute`"
        yield Fault((*route, "tolerationSeconds"), "only allowed with the effect `NoExecute`", hint)


def _spread(found: list[Body], route: Route) -> Faults:
    for at, (key, action) in duplicates(found, route, "topologyKey", "whenUnsatisfiable"):
        yield Fault(at, f"duplicate constraint for `{key}` with `{action}`", "remove one of the two")
    for index, constraint in enumerate(found):
        yield from _constraint(constraint, (*route, index))


def _constraint(constraint: Body, route: Route) -> Faults:
    if "minDomains" in constraint and constraint["whenUnsatisfiable"] != "DoNotSchedule":
        hint = "remove it, or set `whenUnsatisfiable: DoNotSchedule`"
        yield Fault((*route, "minDomains"), "only allowed with `DoNotSchedule`", hint)
    yield from selector(constraint.get("labelSelector"), (*route, "labelSelector"))
    yield from label_keys(constraint, route)


def label_keys(term: Body, route: Route) -> Faults:
    """Faults of label keys with values from the pod itself."""
    chosen = term.get("labelSelector") or {}
    for field in ("matchLabelKeys", "mismatchLabelKeys"):
        keys = term.get(field) or []
        if keys and "labelSelector" not in term:
            yield Fault(
                (*route, field), f"`{field}` requires a `labelSelector`", f"add a selector, or remove `{field}`"
            )
            continue
        for index, key in enumerate(keys):
            fault = qualified_name(key)
            if fault is not None:
                yield fault.at((*route, field, index))
    matching = term.get("matchLabelKeys") or []
    selected = set(chosen.get("matchLabels") or {})
    for index, entry in enumerate(chosen.get("matchExpressions") or ()):
        if entry["key"] in matching and entry["key"] in selected:
            at = (*route, "labelSelector", "matchExpressions", index, "key")
            hint = "remove the key from `matchLabelKeys` or from the whole `labelSelector`"
            yield Fault(at, f"`{entry['key']}` is also in `matchLabelKeys`", hint)
        selected.add(entry["key"])
    for index, key in enumerate(matching):
        if key in (term.get("mismatchLabelKeys") or ()):
            hint = "remove it from one of the two lists"
            yield Fault((*route, "matchLabelKeys", index), f"`{key}` is also in `mismatchLabelKeys`", hint)
