"""Admission policies and their bindings.

From `validateValidatingAdmissionPolicySpec` and `validateValidatingAdmissionPolicyBindingSpec` of
`pkg/apis/admissionregistration/validation/validation.go`.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final

from gen.base import Route, regex
from gen.kubernetes.cel.values import DYN, Type
from gen.kubernetes.cel.variables import admission_environment
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Fault, Faults, ObjectView, placed, server_rule
from gen.kubernetes.rules import value_checks as checks
from gen.kubernetes.rules.cel_syntax import BOOLEAN, typed_fault
from gen.kubernetes.rules.field_checks import FieldChecks, selector, too_many, unique
from gen.kubernetes.rules.server.webhooks import REQUEST_NAMES, conditions, request_rules, selectors

_GROUP = "admissionregistration.k8s.io"
_IDENTIFIER = regex(r"[A-Za-z_][A-Za-z0-9_]*")
_MAX_AUDITS = 20
_VARIABLES: Final[dict[str, AbstractSet[str] | None]] = {"expression": None}
_VALIDATIONS: Final = {"expression": BOOLEAN, "messageExpression": frozenset({"string"})}
_AUDITS: Final = {"valueExpression": frozenset({"string", "null_type"})}
"""Types of the expressions of each; None for any type."""
_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")


def _identifier(value: Any) -> Fault | None:
    if _IDENTIFIER.fullmatch(value):
        return None
    return Fault(
        (), f"`{value}` is not a valid variable name", "use letters, digits and `_`, not beginning with a digit"
    )


def _one_line(value: Any) -> Fault | None:
    if not value.strip() or "\n" in value:
        hint = "write one line of text, or remove it"
        return Fault((), "the message is empty or has several lines", hint)
    return None


def _version(value: Any) -> Fault | None:
    group, slash, version = value.rpartition("/")
    if checks.dns_1035_label(version) is not None or (slash and checks.dns_name(group) is not None):
        return Fault((), f"`{value}` is not a valid API version", "use a group and a version, such as `example.com/v1`")
    return None


_MATCH = {"matchPolicy": checks.one_of("Exact", "Equivalent")}
_POLICY = FieldChecks(
    {
        "failurePolicy": checks.one_of("Ignore", "Fail"),
        "reinvocationPolicy": checks.one_of("Never", "IfNeeded"),
        **{f"matchConstraints.{field}": check for field, check in _MATCH.items()},
        "paramKind.apiVersion": _version,
        "paramKind.kind": checks.both(checks.not_empty, checks.lower_case(checks.dns_1035_label)),
        "variables.*.name": _identifier,
        "validations.*.message": checks.if_set(_one_line),
        "validations.*.reason": checks.one_of(*_REASONS),
        "auditAnnotations.*.key": checks.both(checks.not_empty, checks.config_key),
    }
)
_BINDING = FieldChecks(
    {
        "policyName": checks.dns_name,
        "validationActions.*": checks.one_of("Deny", "Warn", "Audit"),
        "paramRef.parameterNotFoundAction": checks.one_of("Allow", "Deny"),
        "paramRef.name": checks.if_set(checks.path_segment),
        **{f"matchResources.{field}": check for field, check in _MATCH.items()},
    }
)


@server_rule(
    "admission-policies",
    f"{_GROUP}/ValidatingAdmissionPolicy",
    f"{_GROUP}/MutatingAdmissionPolicy",
    remedy="Set the matched resources, and valid CEL expressions over the variables of a request.",
)
def admission_policies(view: ObjectView) -> Faults:
    """An admission policy has no validations or matched resources, or an invalid name or CEL expression."""
    spec, at = view.spec, ("spec",)
    yield from _POLICY.faults(spec, at)
    for field in ("apiVersion", "kind") if "paramKind" in spec else ():
        if field not in spec["paramKind"]:
            yield Fault((*at, "paramKind", field), f"`{field}` is missing", f"add `{field}`")
    matched = spec.get("matchConstraints")
    if matched is not None:
        if not matched.get("resourceRules"):
            where = (*at, "matchConstraints", "resourceRules")
            yield Fault(where, "at least one rule is required", "add the resources that the policy applies to")
        yield from _matching(matched, (*at, "matchConstraints"))
    names = REQUEST_NAMES | {"namespaceObject"} | ({"params"} if "paramKind" in spec else set())
    yield from conditions(spec.get("matchConditions") or [], (*at, "matchConditions"), names, view.minor)
    if view.kind == "ValidatingAdmissionPolicy":
        yield from _validations(spec, at, names, view.minor)


def _validations(spec: Body, at: Route, names: frozenset[str] | set[str], minor: int) -> Faults:
    rules, audits = spec.get("validations") or [], spec.get("auditAnnotations") or []
    if not rules and not audits:
        hint = "add a validation with an `expression`"
        yield Fault((*at, "validations"), "`validations` or `auditAnnotations` is required", hint)
    known: dict[str, Type] = {}
    for index, variable in enumerate(spec.get("variables") or ()):
        here = (*at, "variables", index)
        found = yield from _expressions(variable, _VARIABLES, here, names, known, minor)
        name = variable.get("name", "")
        if name in known:
            yield Fault((*here, "name"), f"duplicate variable `{name}`", "rename one of the two")
        known[name] = found or DYN
    for index, rule in enumerate(rules):
        fields = {field: types for field, types in _VALIDATIONS.items() if field == "expression" or rule.get(field)}
        yield from _expressions(rule, fields, (*at, "validations", index), names, known, minor)
    yield from too_many(audits, _MAX_AUDITS, (*at, "auditAnnotations"), "audit annotations")
    yield from unique(audits, (*at, "auditAnnotations"), "key", "annotation")
    for index, audit in enumerate(audits):
        yield from _expressions(audit, _AUDITS, (*at, "auditAnnotations", index), names, known, minor)


def _expressions(
    holder: Body,
    fields: Mapping[str, AbstractSet[str] | None],
    route: Route,
    names: frozenset[str] | set[str],
    known: Mapping[str, Type],
    minor: int,
) -> Generator[Fault, None, Type | None]:
    """Faults of the expressions in some fields; returns the type of the last."""
    found = None
    for field, types in fields.items():
        text = holder.get(field, "")
        if not text.strip():
            yield Fault((*route, field), "the expression is empty", "write a CEL expression")
            continue
        # messages cannot ask for permissions (`validateMessageExpression`)
        own = names - ({"authorizer"} if field == "messageExpression" else set())
        environment = admission_environment({*own, "variables"}, known, minor)
        fault, found = typed_fault(text, environment, types)
        yield from placed(fault, (*route, field))
    return found


def _matching(matched: Body, route: Route) -> Faults:
    yield from selectors(matched, route)
    for field in ("resourceRules", "excludeResourceRules"):
        yield from request_rules(matched.get(field) or [], (*route, field))


@server_rule(
    "admission-bindings",
    f"{_GROUP}/ValidatingAdmissionPolicyBinding",
    f"{_GROUP}/MutatingAdmissionPolicyBinding",
    remedy="Name the policy, its actions and, if it has parameters, the object with them.",
)
def admission_bindings(view: ObjectView) -> Faults:
    """A binding of an admission policy has invalid actions, parameters or matched resources."""
    spec, at = view.spec, ("spec",)
    yield from _BINDING.faults(spec, at)
    actions = spec.get("validationActions") or []
    if len(set(actions)) < len(actions):
        yield Fault((*at, "validationActions"), "duplicate action", "list each action once")
    if {"Deny", "Warn"} <= set(actions):
        hint = "remove `Warn`: a denied request already returns the message"
        yield Fault((*at, "validationActions"), "`Deny` and `Warn` are mutually exclusive", hint)
    if (parameters := spec.get("paramRef")) is not None:
        if bool(parameters.get("name")) == ("selector" in parameters):
            yield Fault((*at, "paramRef"), "exactly one of `name` and `selector` is required", "keep one of the two")
        if "parameterNotFoundAction" not in parameters:
            hint = "add `parameterNotFoundAction: Deny` or `Allow`"
            yield Fault((*at, "paramRef", "parameterNotFoundAction"), "`parameterNotFoundAction` is missing", hint)
        yield from selector(parameters.get("selector"), (*at, "paramRef", "selector"))
    yield from _matching(spec.get("matchResources") or {}, (*at, "matchResources"))
