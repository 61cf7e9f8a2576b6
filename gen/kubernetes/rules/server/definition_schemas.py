"""Schemas in CustomResourceDefinitions: their structure, defaults, patterns and CEL rules.

From `validation.go` (`ValidateStructural`) and `defaulting/validation.go` (`ValidateDefaults`) of
`apiextensions-apiserver/pkg/apiserver/schema`, and `ValidateCustomResourceDefinitionOpenAPISchema` of
`pkg/apis/apiextensions/validation/validation.go`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any, Final

from gen.base import Route, regex
from gen.kubernetes.cel.environment import Environment
from gen.kubernetes.cel.values import optional_of
from gen.kubernetes.cel.variables import declared_environment
from gen.kubernetes.formats import KEYWORDS
from gen.kubernetes.rules import Fault, Faults, not_one_of
from gen.kubernetes.rules.cel_syntax import BOOLEAN, typed_fault
from gen.kubernetes.schemas.structural import closed

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
    elif "default" in schema and not _fits(schema, schema["default"]):
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


def _fits(schema: Any, default: Any) -> bool:
    """Whether a schema accepts its default, as far as gen knows."""
    if schema.get(EMBEDDED) or schema.get("properties", {}).get("metadata"):
        return True
    if schema.keys() <= _OF_SIMPLE_DEFAULT and default.__class__ is _SIMPLE_DEFAULTS.get(schema.get("type")):
        return True
    from jsonschema_rs import Draft202012Validator

    try:
        return Draft202012Validator(closed(schema), keywords=KEYWORDS).is_valid(default)
    except (ValueError, TypeError, AttributeError):  # another fault of the schema
        return True


def cel_faults(schema: Any, route: Route, minor: int, *, is_root: bool, has_old: bool) -> Faults:
    """Faults of the CEL rules of a schema. Without the old value (`has_old`), a rule cannot use `oldSelf`."""
    rules = schema.get(RULES) or ()
    environments: dict[bool, Environment] = {}
    """By whether the old value may be absent."""
    if rules and not schema.get("type") and not schema.get(_INT_OR_STRING):
        yield Fault((*route, "type"), "CEL rules require a type", "add the type, such as `type: object`")
    for index, rule in enumerate(rules):
        at = (*route, RULES, index)
        expression, message = rule.get("rule") or "", rule.get("message")
        optional = bool(rule.get("optionalOldSelf"))
        if optional not in environments:
            environments[optional] = _rule_environment(schema, rule, minor, is_root=is_root)
        environment = environments[optional]
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
    uses_old = "oldSelf" in rule["rule"] and _uses(rule["rule"], "oldSelf")
    if uses_old and not has_old:
        hint = "add `x-kubernetes-list-type: map` with its keys to the list, or write the rule without `oldSelf`"
        yield Fault(
            (*at, "rule"), "entries of a list that is not a map have no old value: `oldSelf` is not allowed", hint
        )
    if not uses_old and rule.get("optionalOldSelf") is not None:
        hint = "remove it, or use `oldSelf` in the rule"
        yield Fault((*at, "optionalOldSelf"), "not allowed for a rule without `oldSelf`", hint)


def _uses(expression: str, name: str) -> bool:
    """Whether a valid expression refers to a variable."""
    from gen.kubernetes.cel.parser import parse
    from gen.kubernetes.cel.tree import Ident, children

    todo = [parse(expression)]
    while todo:
        node = todo.pop()
        if isinstance(node, Ident) and node.name == name:
            return True
        todo += children(node)
    return False


def _rule_environment(schema: Any, rule: Any, minor: int, *, is_root: bool) -> Environment:
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


_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_TEXTS: Final = ("description", "format", "pattern", "title", "type")
_SIMPLE: Final = frozenset({"description", "format", "title", "type"})
_WITHOUT_RULES: Final = _SIMPLE | {
    *("additionalProperties", "enum", "items", "maxItems", "maxLength", "maximum", "minItems", "minLength", "minimum"),
    *("nullable", "properties", "required"),
}
"""Fields without rules of their own."""
_SIMPLE_DEFAULTS: Final = {"boolean": bool, "string": str}
_OF_SIMPLE_DEFAULT: Final = frozenset({"default", "description", "type"})
_UNSUPPORTED: Final = ("$ref", "definitions", "dependencies", "patternProperties", "additionalItems", "$schema", "id")
_NOT_EVEN_EMPTY: Final = ("$ref", "dependencies", "additionalItems")
"""Unsupported fields that must not be empty either."""
_COMBINED: Final = ("allOf", "anyOf", "oneOf")
_ONLY_OUTSIDE: Final = (
    *("additionalProperties", "default", "description", "nullable", "title", "type"),
    *("x-kubernetes-embedded-resource", "x-kubernetes-int-or-string", "x-kubernetes-list-map-keys"),
    *("x-kubernetes-list-type", "x-kubernetes-map-type", "x-kubernetes-preserve-unknown-fields"),
)
"""Fields that define a value. Combinations only restrict it."""
_PRESERVE = "x-kubernetes-preserve-unknown-fields"


def structural_faults(schema: object, route: Route, minor: int) -> Faults:
    """Faults of the schema of a version, for a minor version of Kubernetes."""
    if not isinstance(schema, dict):
        return
    if schema.get("type") != "object":
        yield Fault((*route, "type"), "the type of the whole object must be `object`", "set `type: object`")
    if "additionalProperties" in schema:
        hint = "use `properties`, or `x-kubernetes-preserve-unknown-fields: true`"
        yield Fault((*route, "additionalProperties"), "not allowed for the whole object", hint)
    if schema.get("nullable"):
        yield Fault((*route, "nullable"), "the whole object cannot be null", "remove it")
    metadata = (schema.get("properties") or {}).get("metadata") or {}
    for field in (metadata.get("properties") or {}).keys() - {"name", "generateName"}:
        hint = "remove it: the API server defines `metadata`"
        yield Fault((*route, "properties", "metadata", "properties", field), "cannot be defined", hint)
    yield from _schema(schema, route, minor, is_root=True)


def _schema(schema: object, route: Route, minor: int, *, is_root: bool = False, has_old: bool = True) -> Faults:
    """Faults of a schema. `has_old` is whether an update finds the old value of each value."""
    if not isinstance(schema, dict):
        return
    wrong = [field for field in _TEXTS if not isinstance(schema.get(field, ""), str)]
    if wrong:
        for field in wrong:
            yield Fault((*route, field), f"`{field}` is not a string", "quote the value")
        return
    if schema.get("type") not in _TYPES or not schema.keys() <= _WITHOUT_RULES:
        yield from _own_faults(schema, route, minor, is_root=is_root, has_old=has_old)
    yield from _inside(schema, route, minor, has_old=has_old)


def _own_faults(schema: Any, route: Route, minor: int, *, is_root: bool, has_old: bool) -> Faults:
    """Faults of a schema without those of the schemas of its fields and entries."""
    yield from _type(schema, route, is_root=is_root)
    for field in _UNSUPPORTED:
        if schema.get(field) or (field in schema and field in _NOT_EVEN_EMPTY):
            yield Fault((*route, field), f"`{field}` is not supported in definitions", "remove it, or write it out")
    if schema.get("uniqueItems"):
        hint = "use `x-kubernetes-list-type: set`"
        yield Fault((*route, "uniqueItems"), "`uniqueItems` must not be true", hint)
    yield from _list_type(schema, route)
    yield from value_faults(schema, route)
    yield from cel_faults(schema, route, minor, is_root=is_root, has_old=has_old)
    for field in _COMBINED:
        for index, part in enumerate(schema.get(field) or ()):
            yield from _part(part, schema, (*route, field, index))
    if "not" in schema:
        yield from _part(schema["not"], schema, (*route, "not"))


def _inside(schema: Any, route: Route, minor: int, *, has_old: bool) -> Faults:
    properties, values, items = (schema.get(field) for field in ("properties", "additionalProperties", "items"))
    for name, inner in (properties or {}).items():
        if not _is_simple(inner):
            yield from _schema(inner, (*route, "properties", name), minor, has_old=has_old)
    if values is not None:
        at = (*route, "additionalProperties")
        if properties and isinstance(values, dict):
            yield Fault(at, "`additionalProperties` and `properties` are mutually exclusive", "keep one of the two")
        yield from _schema(values, at, minor, has_old=has_old)
    if isinstance(items, list):
        yield Fault((*route, "items"), "must be one schema, not a list", "use a schema for all entries")
    elif items is not None:
        keyed = schema.get("x-kubernetes-list-type") == "map"
        yield from _schema(items, (*route, "items"), minor, has_old=has_old and keyed)
    elif schema.get("type") == "array":
        yield Fault((*route, "items"), "`items` is missing", "add the schema of the entries")


def _is_simple(schema: object) -> bool:
    """Whether a schema only has a type and texts, as most have: it has no fault."""
    if not isinstance(schema, dict) or not schema.keys() <= _SIMPLE or not schema.get("type"):
        return False
    is_text = all(value.__class__ is str for value in schema.values())
    return is_text and schema["type"] in _TYPES and schema["type"] != "array"


def _type(schema: Any, route: Route, *, is_root: bool) -> Faults:
    kind = schema.get("type")
    if _PRESERVE in schema and schema[_PRESERVE] is not True:
        yield Fault((*route, _PRESERVE), "must be true", "set it to true, or remove it")
    if not kind and not is_root and not schema.get(_PRESERVE) and not schema.get(_INT_OR_STRING):
        yield Fault((*route, "type"), "`type` is missing", "add the type, such as `type: string`")
    elif kind and kind not in _TYPES:
        yield not_one_of(kind, _TYPES).at((*route, "type"))
    for field in (_PRESERVE, "x-kubernetes-embedded-resource") if schema.get(_INT_OR_STRING) else ():
        if schema.get(field):
            yield Fault((*route, field), f"not allowed with `{_INT_OR_STRING}`", "remove one of the two")
    if schema.get("x-kubernetes-embedded-resource"):
        if kind != "object":
            yield Fault((*route, "type"), "the type of an embedded resource must be `object`", "set `type: object`")
        if not schema.get("properties") and not schema.get(_PRESERVE):
            yield Fault((*route, "properties"), "`properties` is missing", f"add `properties`, or `{_PRESERVE}: true`")


def _list_type(schema: Any, route: Route) -> Faults:
    kind, keys = schema.get("x-kubernetes-list-type"), schema.get("x-kubernetes-list-map-keys")
    at = (*route, "x-kubernetes-list-type")
    if kind is not None:
        if kind not in {"atomic", "set", "map"}:
            yield not_one_of(kind, ("atomic", "set", "map")).at(at)
        if schema.get("type") != "array":
            yield Fault((*route, "type"), "the type of a list must be `array`", "set `type: array`")
    if schema.get("x-kubernetes-map-type") is not None:
        if schema["x-kubernetes-map-type"] not in {"atomic", "granular"}:
            yield not_one_of(schema["x-kubernetes-map-type"], ("atomic", "granular")).at(
                (*route, "x-kubernetes-map-type")
            )
        if schema.get("type") != "object":
            yield Fault((*route, "type"), "the type of a map must be `object`", "set `type: object`")
    if (kind == "map") != bool(keys):
        where = (*route, "x-kubernetes-list-map-keys")
        yield Fault(where, "keys are for lists of the type `map`, which require them", "add the keys, or remove them")
    if len(set(keys or ())) < len(keys or ()):
        yield Fault((*route, "x-kubernetes-list-map-keys"), "duplicate key", "list each key once")
    yield from _keys(schema.get("items"), keys or (), route)
    if kind == "set":
        yield from _set(schema.get("items"), (*route, "items"))


def _set(items: object, route: Route) -> Faults:
    if not isinstance(items, dict):
        return
    if items.get("nullable"):
        yield Fault((*route, "nullable"), "entries of a set cannot be null", "remove it, or use another type of list")
    if items.get("type") == "object" and items.get("x-kubernetes-map-type") != "atomic":
        hint = "add `x-kubernetes-map-type: atomic`"
        yield Fault((*route, "x-kubernetes-map-type"), "mappings in a set must be atomic", hint)


def _keys(items: object, keys: Iterable[str], route: Route) -> Faults:
    for index, key in enumerate(keys):
        where = (*route, "x-kubernetes-list-map-keys", index)
        if not isinstance(items, dict) or key not in (items.get("properties") or {}):
            yield Fault(where, f"the entries have no property `{key}`", "name a property of `items`")
        elif (items["properties"][key] or {}).get("type") in {"object", "array"}:
            yield Fault(where, f"`{key}` is not a string, number or boolean", "use another property as key")
        elif key not in (items.get("required") or ()) and "default" not in (items["properties"][key] or {}):
            yield Fault(where, f"`{key}` is neither required nor has a default", "add it to `required` of `items`")


def _part(part: Any, outside: Any, route: Route) -> Faults:
    """Faults of a part of a combination, such as `anyOf`."""
    if not isinstance(part, dict):
        return
    int_or_string = outside.get(_INT_OR_STRING, False)
    for field in _ONLY_OUTSIDE:
        if field in part and not (field == "type" and int_or_string) and part[field] not in ("", False):
            hint = "define it outside of the combination"
            yield Fault((*route, field), f"`{field}` is not allowed in `allOf`, `anyOf`, `oneOf` and `not`", hint)
    for name, inner in (part.get("properties") or {}).items():
        there = (outside.get("properties") or {}).get(name)
        yield from _part(inner, there or {}, (*route, "properties", name))
    if isinstance(part.get("items"), dict):
        yield from _part(part["items"], outside.get("items") or {}, (*route, "items"))
    for field in _COMBINED:
        for index, inner in enumerate(part.get(field) or ()):
            yield from _part(inner, outside, (*route, field, index))
    if "not" in part:
        yield from _part(part["not"], outside, (*route, "not"))
