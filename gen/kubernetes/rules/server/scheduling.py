"""Scheduling of pods: tolerations, spread, affinity.

From `ValidateTolerations`, `validateTopologySpreadConstraints`, `validateNodeAffinity`, `ValidateNodeSelector` and
`validatePodAffinityTerm` of `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

from gen.base import Route
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Check, Fault, Faults, ObjectView, field_checks, placed, server_rule
from gen.kubernetes.rules import value_checks as checks

_POLICY = checks.one_of("Honor", "Ignore")
TOLERATIONS: dict[str, Check] = {
    "tolerations.*.key": checks.if_set(checks.qualified_name),
    "tolerations.*.operator": checks.if_set(checks.one_of("Equal", "Exists")),
    "tolerations.*.effect": checks.if_set(checks.one_of("NoSchedule", "PreferNoSchedule", "NoExecute")),
}
_POD = field_checks.FieldChecks(
    {
        **TOLERATIONS,
        "topologySpreadConstraints.*.maxSkew": checks.at_least(1),
        "topologySpreadConstraints.*.minDomains": checks.at_least(1),
        "topologySpreadConstraints.*.topologyKey": checks.not_empty,
        "topologySpreadConstraints.*.whenUnsatisfiable": checks.one_of("DoNotSchedule", "ScheduleAnyway"),
        "topologySpreadConstraints.*.nodeAffinityPolicy": _POLICY,
        "topologySpreadConstraints.*.nodeTaintsPolicy": _POLICY,
    }
)


@server_rule(
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
    yield from placed(checks.label_value(value) if operator in {"", "Equal"} else None, (*route, "value"))
    if "tolerationSeconds" in found and found.get("effect") != "NoExecute":
        hint = "remove it, or set `effect: NoExecute`"
        yield Fault((*route, "tolerationSeconds"), "only allowed with the effect `NoExecute`", hint)


def _spread(found: list[Body], route: Route) -> Faults:
    for at, (key, action) in field_checks.duplicates(found, route, "topologyKey", "whenUnsatisfiable"):
        yield Fault(at, f"duplicate constraint for `{key}` with `{action}`", "remove one of the two")
    for index, constraint in enumerate(found):
        yield from _constraint(constraint, (*route, index))


def _constraint(constraint: Body, route: Route) -> Faults:
    if "minDomains" in constraint and constraint["whenUnsatisfiable"] != "DoNotSchedule":
        hint = "remove it, or set `whenUnsatisfiable: DoNotSchedule`"
        yield Fault((*route, "minDomains"), "only allowed with `DoNotSchedule`", hint)
    yield from field_checks.selector(constraint.get("labelSelector"), (*route, "labelSelector"))
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
            yield from placed(checks.qualified_name(key), (*route, field, index))
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


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_AFFINITY = field_checks.FieldChecks(
    {
        f"{kind}.{_PREFERRED}.*.weight": checks.between(1, 100)
        for kind in ("nodeAffinity", "podAffinity", "podAntiAffinity")
    }
)
_FIELD_VALUES = {"In": (1, 1), "NotIn": (1, 1)}
"""Operators on fields of nodes, each with the smallest and largest number of values."""

_TERM = field_checks.FieldChecks({"topologyKey": checks.qualified_name, "namespaces.*": checks.dns_label})


@server_rule(
    "affinity",
    of_pods=True,
    remedy="Set `topologyKey` in each term, and give each expression as many values as its operator takes.",
)
def affinity(view: ObjectView) -> Faults:
    """An affinity has an invalid weight, term, selector or topology key."""
    for route, pod in view.pods:
        if not (found := pod.get("affinity")):
            continue
        at = (*route, "affinity")
        yield from _AFFINITY.faults(found, at)
        nodes = found.get("nodeAffinity") or {}
        if _REQUIRED in nodes:
            yield from node_selector(nodes[_REQUIRED], (*at, "nodeAffinity", _REQUIRED))
        for index, entry in enumerate(nodes.get(_PREFERRED) or ()):
            here = (*at, "nodeAffinity", _PREFERRED, index, "preference")
            yield from _node_term(entry.get("preference") or {}, here, any_value=True)
        for kind in ("podAffinity", "podAntiAffinity"):
            terms = found.get(kind) or {}
            for index, term in enumerate(terms.get(_REQUIRED) or ()):
                yield from _pod_term(term, (*at, kind, _REQUIRED, index))
            for index, entry in enumerate(terms.get(_PREFERRED) or ()):
                yield from _pod_term(entry["podAffinityTerm"], (*at, kind, _PREFERRED, index, "podAffinityTerm"))


def node_selector(found: Body, route: Route) -> Faults:
    """Faults of a node selector, as in pods and persistent volumes."""
    if not found["nodeSelectorTerms"]:
        yield Fault(
            (*route, "nodeSelectorTerms"), "at least one term is required", "add a term with `matchExpressions`"
        )
    for index, term in enumerate(found["nodeSelectorTerms"]):
        yield from _node_term(term, (*route, "nodeSelectorTerms", index))


def _node_term(term: Body, route: Route, *, any_value: bool = False) -> Faults:
    for index, entry in enumerate(term.get("matchExpressions") or ()):
        yield from field_checks.requirement(
            entry, (*route, "matchExpressions", index), field_checks.NODE_VALUES, any_value=any_value
        )
    for index, entry in enumerate(term.get("matchFields") or ()):
        at = (*route, "matchFields", index)
        if entry["key"] != "metadata.name":
            hint = "use `metadata.name`, or move a label to `matchExpressions`"
            yield Fault((*at, "key"), f"`{entry['key']}` is not supported; expected `metadata.name`", hint)
        yield from field_checks.number_of_values(entry["operator"], entry.get("values") or [], at, _FIELD_VALUES)
        yield from field_checks.FieldChecks({"values.*": checks.dns_name}).faults(entry, at)


def _pod_term(term: Body, route: Route) -> Faults:
    yield from _TERM.faults(term, route)
    for field in ("labelSelector", "namespaceSelector"):
        yield from field_checks.selector(term.get(field), (*route, field))
    yield from label_keys(term, route)
