"""Schemas in CustomResourceDefinitions, which must be structural.

From `apiextensions-apiserver/pkg/apiserver/schema/validation.go` (`ValidateStructural`) and
`ValidateCustomResourceDefinitionOpenAPISchema` of `pkg/apis/apiextensions/validation/validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gen.rules.fault import Fault, not_one_of
from gen.rules.server.schema_values import cel_faults, value_faults

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gen.diagnostics import Route
    from gen.rules.fault import Faults

_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_TEXTS: Final = ("description", "format", "pattern", "title", "type")
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
_INT_OR_STRING = "x-kubernetes-int-or-string"
_PRESERVE = "x-kubernetes-preserve-unknown-fields"


def structural_faults(schema: Any, route: Route, minor: int) -> Faults:
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


def _schema(schema: Any, route: Route, minor: int, *, is_root: bool = False, has_old: bool = True) -> Faults:
    """Faults of a schema. `has_old` is whether an update finds the old value of each value."""
    if not isinstance(schema, dict):
        return
    wrong = [field for field in _TEXTS if not isinstance(schema.get(field, ""), str)]
    if wrong:
        for field in wrong:
            yield Fault((*route, field), f"`{field}` is not a string", "quote the value")
        return
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
    yield from _inside(schema, route, minor, has_old=has_old)


def _inside(schema: Any, route: Route, minor: int, *, has_old: bool) -> Faults:
    properties, values, items = (schema.get(field) for field in ("properties", "additionalProperties", "items"))
    for name, inner in (properties or {}).items():
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


def _set(items: Any, route: Route) -> Faults:
    if not isinstance(items, dict):
        return
    if items.get("nullable"):
        yield Fault((*route, "nullable"), "entries of a set cannot be null", "remove it, or use another type of list")
    if items.get("type") == "object" and items.get("x-kubernetes-map-type") != "atomic":
        hint = "add `x-kubernetes-map-type: atomic`"
        yield Fault((*route, "x-kubernetes-map-type"), "mappings in a set must be atomic", hint)


def _keys(items: Any, keys: Iterable[str], route: Route) -> Faults:
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
