"""Defaults in CustomResourceDefinitions, which must fulfil the CEL rules of their own schema.

From `validate` of `apiextensions-apiserver/pkg/apiserver/schema/defaulting/validation.go`. It evaluates the rules as
for an update without a change, and those with `optionalOldSelf` also as for a new object. Rules around a default do not
apply. `Validator.validate` of `pkg/apiserver/schema/cel/validation.go` decides which values have an old one.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gen.rules.fault import Fault
from gen.rules.rule import server
from gen.rules.server.schema_values import EMBEDDED, RULES, fits, rule_environment, uses

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gen.cel.program import Program
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_TOTAL: Final = 10_000_000
"""`RuntimeCELCostBudget` of `apiserver/pkg/apis/cel/config.go`, for all defaults of a version."""
_MOST_VALUES: Final = 20_000
_MOST_EVALUATIONS: Final = 100_000
"""Work for the defaults of a version, about a second. Constant rules cost nothing, and a list repeats its rules."""
_OPTIONAL_OLD: Final = 30
"""The first minor version in which `CRDValidationRatcheting` is on by default, and with it `optionalOldSelf`."""
_SHOWN: Final = 120


class _Applied(Struct, frozen=True, kw_only=True):
    """The rules for a value in a default."""

    rules: list[Body]
    schema: Body
    value: Any
    route: Route
    is_root: bool
    has_old: bool
    """Whether an update finds the old value."""


@server(
    "definition-defaults",
    "apiextensions.k8s.io/CustomResourceDefinition",
    reason="The API server evaluates the CEL rules of a schema for its default when the definition is created.",
    remedy="Use a default that fulfils the rules of its schema, or change the rule.",
)
def definition_defaults(view: ObjectView) -> Faults:
    """A default in a CustomResourceDefinition breaks a CEL rule of its own schema."""
    for index, version in enumerate(view.spec.get("versions") or ()):
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        route = ("spec", "versions", index, "schema", "openAPIV3Schema")
        applied = (
            one
            for holder, at in _defaults(schema, route)
            for one in _rules(holder, holder["default"], (*at, "default"), is_root=at == route)
        )
        yield from _broken(islice(applied, _MOST_VALUES), view.minor)


def _defaults(schema: Any, route: Route) -> Iterator[tuple[Body, Route]]:
    """The schemas with a default that they accept. Values of mappings cannot have one."""
    if not isinstance(schema, dict):
        return
    if schema.get("default") is not None and _has_rules(schema) and fits(schema, schema["default"]):
        yield schema, route
    for name, inner in (schema.get("properties") or {}).items():
        yield from _defaults(inner, (*route, "properties", name))
    yield from _defaults(schema.get("items"), (*route, "items"))


def _has_rules(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    inner = (*(schema.get("properties") or {}).values(), schema.get("items"), schema.get("additionalProperties"))
    return bool(schema.get(RULES)) or any(map(_has_rules, inner))


def _rules(schema: Any, value: Any, route: Route, *, is_root: bool = False, has_old: bool = True) -> Iterator[_Applied]:
    """The rules for a value and the values in it. Those for null are not evaluated."""
    if not isinstance(schema, dict) or value is None:
        return
    is_root = is_root or bool(schema.get(EMBEDDED))
    if rules := schema.get(RULES):
        yield _Applied(rules=rules, schema=schema, value=value, route=route, is_root=is_root, has_old=has_old)
    if isinstance(value, dict):
        properties, values = schema.get("properties") or {}, schema.get("additionalProperties")
        old = has_old and schema.get("x-kubernetes-map-type") != "atomic"
        for name, inner in value.items():
            yield from _rules(properties.get(name, values), inner, (*route, name), has_old=old)
    elif isinstance(value, list):
        old = has_old and schema.get("x-kubernetes-list-type") == "map"
        for index, inner in enumerate(value):
            yield from _rules(schema.get("items"), inner, (*route, index), has_old=old)


def _broken(applied: Iterable[_Applied], minor: int) -> Faults:
    left: float = _TOTAL
    evaluations = 0
    programs: dict[int, Program | None] = {}  # a list has the rule of its entries many times
    for one in applied:
        value = _typed(one)
        for rule in one.rules:
            if id(rule) not in programs:
                programs[id(rule)] = _compiled(one, rule, minor)
            if (program := programs[id(rule)]) is None:
                continue
            holds, cost = _evaluated(program, _bindings(one, rule, value, minor), left)
            left -= cost
            evaluations += 1
            if not holds:
                yield _fault(one, rule, program.text)
            if left < 0:
                hint = "shorten the default, or simplify the rule"
                message = f"the rules for the defaults of the version cost more than {_TOTAL:,}"
                yield Fault(one.route, message, hint)
            if left < 0 or evaluations >= _MOST_EVALUATIONS:
                return


def _evaluated(program: Program, bindings: Iterable[dict[str, Any]], left: float) -> tuple[bool, float]:
    """Whether a rule holds for all bindings, as far as gen can evaluate it, and the cost."""
    from gen.cel.errors import CelError, NotEvaluatedError  # noqa: PLC0415 - few defaults have rules
    from gen.cel.frame import PER_CALL  # noqa: PLC0415 - as above

    total: float = 0
    for values in bindings:
        try:
            result, cost = program.evaluate(values, min(left - total, PER_CALL))
        except CelError as error:
            return False, total + error.cost
        except NotEvaluatedError:
            break
        total += cost
        if result is not True:
            return False, total
    return True, total


def _compiled(one: _Applied, rule: Body, minor: int) -> Program | None:
    """The rule; None if it is invalid, which is reported at the rule."""
    from gen.cel.errors import CompileError, NotEvaluatedError  # noqa: PLC0415 - few defaults have rules
    from gen.cel.program import compile_expression  # noqa: PLC0415 - as above

    environment = rule_environment(one.schema, rule, minor, is_root=one.is_root)
    try:
        return compile_expression(str(rule.get("rule") or ""), environment, escaped_names=True)
    except (CompileError, NotEvaluatedError):
        return None


def _typed(one: _Applied) -> Any:
    from gen.cel.declared import typed_value  # noqa: PLC0415 - few defaults have rules

    return typed_value(one.schema, one.value)


def _bindings(one: _Applied, rule: Body, value: Any, minor: int) -> Iterator[dict[str, Any]]:
    """The variables of each evaluation; none for a rule about a change where no old value is known."""
    from gen.cel.values import NONE, Optional  # noqa: PLC0415 - few defaults have rules

    expression = str(rule.get("rule") or "")
    if "oldSelf" not in expression or not uses(expression, "oldSelf"):
        yield {"self": value}
    elif rule.get("optionalOldSelf"):
        if minor >= _OPTIONAL_OLD:
            yield {"self": value, "oldSelf": Optional(value) if one.has_old else NONE}
            yield {"self": value, "oldSelf": NONE}
    elif one.has_old:
        yield {"self": value, "oldSelf": value}


def _fault(one: _Applied, rule: Body, expression: str) -> Fault:
    shown = " ".join(expression.split())[:_SHOWN]
    message = f"the default breaks a rule of its schema: {rule.get('message') or f'`{shown}`'}"
    return Fault(one.route, message, f"use a default for which `{shown}` holds, or change the rule")
