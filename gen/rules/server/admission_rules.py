"""Parts that webhook configurations and admission policies share: matched requests and conditions.

From `validateRule`, `validateResources` and `validateMatchConditions` of
`pkg/apis/admissionregistration/validation/validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.rules.cel_syntax import BOOLEAN, syntax_fault
from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks
from gen.rules.name_checks import qualified_name
from gen.rules.selectors import selector
from gen.rules.server.autoscaling import path_segment
from gen.rules.value_checks import if_set, not_empty, one_of

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults

ALL = "*"
_RULE: Final = FieldChecks(
    {
        "operations.*": one_of(ALL, "CREATE", "UPDATE", "DELETE", "CONNECT"),
        "apiVersions.*": not_empty,
        "resourceNames.*": if_set(path_segment),
        "scope": one_of(ALL, "Cluster", "Namespaced"),
    }
)
_EXAMPLES: Final = {
    "operations": "`CREATE`",
    "apiGroups": '`apps`, or `""` for the core group',
    "apiVersions": "`v1`",
    "resources": "`pods`",
}
_MAX_CONDITIONS = 64
REQUEST_NAMES: Final = frozenset({"object", "oldObject", "request", "authorizer"})
"""Variables of conditions."""


def selectors(holder: Body, route: Route) -> Faults:
    for field in ("namespaceSelector", "objectSelector"):
        yield from selector(holder.get(field), (*route, field))


def request_rules(rules: list[Body], route: Route) -> Faults:
    """Faults of the rules that select requests."""
    for index, rule in enumerate(rules):
        at = (*route, index)
        yield from _lists(rule, at)
        yield from _RULE.faults(rule, at)
        yield from _resources(rule.get("resources") or [], (*at, "resources"))
        yield from _twice(rule.get("resourceNames") or [], (*at, "resourceNames"))


def _lists(rule: Body, at: Route) -> Faults:
    for field, example in _EXAMPLES.items():
        values = rule.get(field) or []
        if not values:
            yield Fault((*at, field), f"at least one of `{field}` is required", f"add one, such as {example}")
        if ALL in values and len(values) > 1 and field != "resources":
            yield Fault((*at, field), "`*` already includes all others", "keep only `*`, or remove it")


def _twice(values: list[str], route: Route) -> Faults:
    for number, value in enumerate(values):
        if value in values[:number]:
            yield Fault((*route, number), f"duplicate entry `{value}`", "remove one of the two")


def _resources(found: list[str], route: Route) -> Faults:
    pairs = [name.partition("/")[::2] for name in found]
    for number, (name, (resource, sub)) in enumerate(zip(found, pairs, strict=True)):
        others = [pair for other, pair in zip(found, pairs, strict=True) if other != name]
        covers = (
            (name == "*/*" and others)
            or (resource == ALL and sub and any(other[1] == sub for other in others))
            or (sub == ALL and any(other[0] == resource and other[1] for other in others))
            or (name == ALL and any(not other[1] for other in others))
        )
        if not name:
            yield Fault((*route, number), "must not be empty", "write a resource, such as `pods`")
        elif covers:
            hint = "remove the entries that it includes"
            yield Fault((*route, number), f"`{name}` already includes other entries", hint)


def conditions(found: list[Body], route: Route, names: AbstractSet[str], minor: int) -> Faults:
    """Faults of match conditions, whose expressions may use some names."""
    if len(found) > _MAX_CONDITIONS:
        message = f"more than {_MAX_CONDITIONS} conditions"
        yield Fault(route, message, f"remove {len(found) - _MAX_CONDITIONS} of them, or join expressions with `&&`")
    for index, condition in enumerate(found):
        if (fault := qualified_name(condition.get("name", ""))) is not None:
            yield fault.at((*route, index, "name"))
        if condition.get("name") in [other.get("name") for other in found[:index]]:
            yield Fault((*route, index, "name"), f"duplicate condition `{condition.get('name')}`", "rename one")
        yield from expression(condition, "expression", (*route, index), names, minor=minor)


def expression(
    holder: Body,
    field: str,
    route: Route,
    names: AbstractSet[str],
    types: AbstractSet[str] | None = BOOLEAN,
    *,
    minor: int,
) -> Faults:
    """Faults of a required CEL expression of one of some types."""
    if (fault := syntax_fault(holder.get(field, ""), names, types, minor=minor)) is not None:
        yield fault.at((*route, field))
