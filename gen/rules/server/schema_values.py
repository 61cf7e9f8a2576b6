"""Values in schemas of CustomResourceDefinitions: defaults, patterns and CEL rules.

From `ValidateDefaults` of `apiextensions-apiserver/pkg/apiserver/schema/defaulting/validation.go` and
`ValidateCustomResourceDefinitionOpenAPISchema` of `pkg/apis/apiextensions/validation/validation.go`.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from gen.cel.declared import declared_environment
from gen.cel.environment import Environment
from gen.cel.types import optional_of
from gen.regex import regex
from gen.rules.cel_syntax import BOOLEAN, typed_fault
from gen.rules.fault import Fault, not_one_of
from gen.schemas.structural import closed

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from gen.diagnostics import Route
    from gen.rules.fault import Faults

_NAMES: Final = frozenset({"self", "oldSelf"})
_TEXT: Final = frozenset({"string"})
_REASONS: Final = ("FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate")
_LOOKAROUND = regex(r"(?<!\\)\(\?<?[=!]")
_BROKEN = ("unterminated", "unbalanced", "missing )", "nothing to repeat")
_INT_OR_STRING = "x-kubernetes-int-or-string"
EMBEDDED: Final = "x-kubernetes-embedded-resource"
RULES: Final = "x-kubernetes-validations"


def value_faults(schema: Any, route: Route) -> Faults:
    """Faults of the default and the pattern of a schema."""
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and (reason := _pattern_fault(pattern)):
        hint = "use the syntax of Go (RE2), without lookaround"
        yield Fault((*route, "pattern"), f"not a valid regular expression: {reason}", hint)
    elif "default" in schema and not fits(schema, schema["default"]):
        hint = "use a default that the schema itself accepts"
        yield Fault((*route, "default"), "the default does not match its schema", hint)


@lru_cache(maxsize=1024)
def _pattern_fault(pattern: str) -> str:
    """Why Go does not compile a pattern; empty if it may."""
    if _LOOKAROUND.search(pattern):
        return "lookaround"
    try:
        with warnings.catch_warnings(action="ignore"):
            re.compile(pattern)
    except re.error as error:
        return error.msg if error.msg.startswith(_BROKEN) else ""
    return ""


def fits(schema: Any, default: Any) -> bool:
    """Whether a schema accepts its default, as far as gen knows."""
    from jsonschema_rs import Draft202012Validator  # noqa: PLC0415 - compiled code, and few objects are definitions

    if schema.get(EMBEDDED) or schema.get("properties", {}).get("metadata"):
        return True
    try:
        return Draft202012Validator(closed(schema)).is_valid(default)
    except (ValueError, TypeError, AttributeError):  # another fault of the schema
        return True


def cel_faults(schema: Any, route: Route, minor: int, *, is_root: bool, has_old: bool) -> Faults:
    """Faults of the CEL rules of a schema. Without the old value (`has_old`), a rule cannot use `oldSelf`."""
    rules = schema.get(RULES) or ()
    if rules and not schema.get("type") and not schema.get(_INT_OR_STRING):
        yield Fault((*route, "type"), "CEL rules require a type", "add the type, such as `type: object`")
    for index, rule in enumerate(rules):
        at = (*route, RULES, index)
        expression, message = rule.get("rule") or "", rule.get("message")
        environment = rule_environment(schema, rule, minor, is_root=is_root)
        fault = _expression_fault(expression, environment, BOOLEAN)
        if fault is not None:
            yield fault.at((*at, "rule"))
        else:
            yield from _message_faults(rule, environment, at)
            yield from _transition_faults(rule, at, has_old=has_old)
        if "\n" in expression.strip() and not (message or rule.get("messageExpression")):
            yield Fault((*at, "message"), "a rule with several lines requires a message", "add `message`")
        if message is not None and (not message.strip() or "\n" in message.strip()):
            yield Fault((*at, "message"), "the message is empty or has several lines", "write one line of text")
        if rule.get("reason") is not None and rule["reason"] not in _REASONS:
            yield not_one_of(rule["reason"], _REASONS).at((*at, "reason"))


def _message_faults(rule: Any, environment: Environment, at: Route) -> Faults:
    expression = rule.get("messageExpression")
    if expression and (fault := _expression_fault(expression, environment, _TEXT)) is not None:
        yield fault.at((*at, "messageExpression"))


def _transition_faults(rule: Any, at: Route, *, has_old: bool) -> Faults:
    """Faults of a rule that compares with the old object, or could."""
    uses_old = "oldSelf" in rule["rule"] and uses(rule["rule"], "oldSelf")
    if uses_old and not has_old:
        hint = "add `x-kubernetes-list-type: map` with its keys to the list, or write the rule without `oldSelf`"
        yield Fault(
            (*at, "rule"), "entries of a list that is not a map have no old value: `oldSelf` is not allowed", hint
        )
    if not uses_old and rule.get("optionalOldSelf") is not None:
        hint = "remove it, or use `oldSelf` in the rule"
        yield Fault((*at, "optionalOldSelf"), "not allowed for a rule without `oldSelf`", hint)


def uses(expression: str, name: str) -> bool:
    """Whether a valid expression refers to a variable."""
    from gen.cel.parser import parse  # noqa: PLC0415 - few rules compare with old objects
    from gen.cel.tree import Ident, children  # noqa: PLC0415 - as above

    todo = [parse(expression)]
    while todo:
        node = todo.pop()
        if isinstance(node, Ident) and node.name == name:
            return True
        todo += children(node)
    return False


def rule_environment(schema: Any, rule: Any, minor: int, *, is_root: bool) -> Environment:
    """The variables of a rule, which have the type of the schema; `oldSelf` may be absent with `optionalOldSelf`."""
    found = declared_environment(schema, *_NAMES, root=is_root, minor=minor)
    if not rule.get("optionalOldSelf"):
        return found
    variables = {**found.variables, "oldSelf": optional_of(found.variables["oldSelf"])}
    return Environment(variables, found.messages, minor=minor)


def _expression_fault(expression: str, environment: Environment, types: AbstractSet[str]) -> Fault | None:
    if not expression.strip():
        return Fault((), "the expression is empty", "write a CEL expression")
    return typed_fault(expression, environment, types, escaped_names=True)[0]
