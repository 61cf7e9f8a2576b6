"""Node affinity, pod affinity and pod anti-affinity.

From `validateNodeAffinity`, `ValidateNodeSelector` and `validatePodAffinityTerm` of
`pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks
from gen.rules.name_checks import dns_label, dns_name, qualified_name
from gen.rules.rule import server
from gen.rules.selectors import NODE_VALUES, number_of_values, requirement, selector
from gen.rules.server.scheduling import label_keys
from gen.rules.value_checks import between

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_AFFINITY = FieldChecks(
    {f"{kind}.{_PREFERRED}.*.weight": between(1, 100) for kind in ("nodeAffinity", "podAffinity", "podAntiAffinity")}
)
_FIELD_VALUES = {"In": (1, 1), "NotIn": (1, 1)}
"""Operators on fields of nodes, each with the smallest and largest number of values."""

_TERM = FieldChecks({"topologyKey": qualified_name, "namespaces.*": dns_label})


@server(
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
        yield from requirement(entry, (*route, "matchExpressions", index), NODE_VALUES, any_value=any_value)
    for index, entry in enumerate(term.get("matchFields") or ()):
        at = (*route, "matchFields", index)
        if entry["key"] != "metadata.name":
            hint = "use `metadata.name`, or move a label to `matchExpressions`"
            yield Fault((*at, "key"), f"`{entry['key']}` is not supported; expected `metadata.name`", hint)
        yield from number_of_values(entry["operator"], entry.get("values") or [], at, _FIELD_VALUES)
        yield from FieldChecks({"values.*": dns_name}).faults(entry, at)


def _pod_term(term: Body, route: Route) -> Faults:
    yield from _TERM.faults(term, route)
    for field in ("labelSelector", "namespaceSelector"):
        yield from selector(term.get(field), (*route, field))
    yield from label_keys(term, route)
