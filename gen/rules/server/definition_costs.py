"""Costs of the CEL rules in CustomResourceDefinitions, which an API server estimates from the limits in their schemas.

From `ValidateCustomResourceDefinitionOpenAPISchema` of
`apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gen.rules.fault import Fault
from gen.rules.rule import server
from gen.rules.server.schema_values import RULES
from gen.rules.server.structural_schemas import structural_faults

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView
    from gen.rules.server.rule_costs import Limit

_FIRST: Final = 33
"""The oldest minor version with these estimates."""
_EACH_MAX: Final = 10_000_000
"""`StaticEstimatedCostLimit` of the same file, for one expression."""
_TOTAL_MAX: Final = 100_000_000
"""`StaticEstimatedCRDCostLimit` of the same file, for all expressions of a version."""
_LARGE: Final = 100
_SIMPLER: Final = "simplify the rule, or lower the limits of the lists, mappings and strings that it reads"


@server(
    "definition-costs",
    "apiextensions.k8s.io/CustomResourceDefinition",
    reason="The API server estimates the cost of each rule for the largest object that the schema allows. It rejects "
    "definitions with rules that could take too long.",
    remedy="Set `maxItems`, `maxProperties` and `maxLength` where the schema declares lists, mappings and strings, or "
    "simplify the rule.",
)
def definition_costs(view: ObjectView) -> Faults:
    """The estimated cost of CEL rules in a CustomResourceDefinition exceeds the limit of a rule or of a version."""
    if view.minor < _FIRST:
        return
    for index, version in enumerate(view.spec.get("versions") or ()):
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        holders: set[int] = set()
        if isinstance(schema, dict) and _hold_rules(schema, holders):
            route = ("spec", "versions", index, "schema", "openAPIV3Schema")
            yield from _version(schema, holders, route, view.minor)


def _hold_rules(schema: Any, holders: set[int]) -> bool:
    """Whether a schema has rules; collects the schemas with rules in them, most have none."""
    if not isinstance(schema, dict):
        return False
    found = bool(schema.get(RULES))
    for inner in (schema.get("properties") or {}).values():
        found = _hold_rules(inner, holders) or found
    for field in ("items", "additionalProperties"):
        found = _hold_rules(schema.get(field), holders) or found
    if found:
        holders.add(id(schema))
    return found


def _version(schema: Body, holders: set[int], route: Route, minor: int) -> Faults:
    from gen.rules.server.rule_costs import Work, rule_costs  # noqa: PLC0415 - few objects have rules

    costs = list(rule_costs(schema, holders, route, minor))
    total = sum(one.cost for one in costs)
    large = [one for one in costs if one.cost > _EACH_MAX]
    if not large and total <= _TOTAL_MAX:
        return
    if any(not _of_rule(fault) for fault in structural_faults(schema, route, minor)):
        return  # the server estimates nothing in an invalid schema
    work = Work()
    for one in large:
        name = "the rule" if one.route[-1] == "rule" else "the message"
        yield Fault(
            one.route,
            _message(f"the estimated cost of {name}", one.cost, _EACH_MAX),
            _hint(one.limits(_EACH_MAX, work)),
        )
    if total - sum(one.cost for one in large) > _TOTAL_MAX or not large:
        worst = max(costs, key=lambda one: one.cost)
        message = _message(f"the estimated cost of all {len(costs)} CEL expressions of the version", total, _TOTAL_MAX)
        yield Fault(route, message, _hint(worst.limits(0, work)))


def _of_rule(fault: Fault) -> bool:
    return fault.route[-1] in {"rule", "messageExpression"}


def _message(what: str, cost: int, limit: int) -> str:
    shown = f"{cost:,}" if cost <= limit * _LARGE else f"more than {limit * _LARGE:,}"
    return f"{what} is {shown}; expected at most {limit:,}"


def _hint(limits: Iterable[Limit]) -> str:
    texts = [str(limit) for limit in limits]
    if not texts:
        return _SIMPLER
    *others, last = texts
    return f"set {', '.join(others)}{' and ' if others else ''}{last}, or simplify the rule"
