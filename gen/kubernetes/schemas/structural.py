"""Close the schema of a CustomResourceDefinition, so that it accepts what an API server accepts with strict field
validation.

From `apiextensions-apiserver/pkg/apiserver/schema` (structural schemas, `x-kubernetes-…`). Two features that JSON
Schema lacks, keyed lists and CEL rules, are returned as a tree of extra checks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gen.base import Route
from gen.kubernetes.formats import KEYWORD, format_of
from gen.kubernetes.schemas.kubernetes import reference

if TYPE_CHECKING:
    from gen.kubernetes.schemas.registry import Schema

_METADATA: Final = reference("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")
_KEPT = (
    *("type", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "required"),
    *("minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
)
_COMBINED = ("allOf", "anyOf", "oneOf")
_PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
_INT64_BOUND = 2**63
"""Of integers: the API server limits those of definitions to 64 bits for every format."""


class ExtraChecks(Struct):
    """Checks of a value and of the values below it that JSON Schema cannot express."""

    fields: dict[str, ExtraChecks] = {}
    entries: ExtraChecks | None = None
    """For the entries of a list, or the values of a mapping."""
    keys: tuple[str, ...] = ()
    """For a list: the fields that form the unique key of an entry."""
    rules: tuple[tuple[str, str], ...] = ()
    """CEL expressions over `self`, each with its error message."""
    schema: Schema | None = None
    """The schema of the value, if it has rules."""
    compiled: Any = None
    """The compiled rules."""

    def empty(self) -> bool:
        return not (self.fields or self.entries or self.keys or self.rules)

    def visit(self, value: object, route: Route = ()) -> Iterator[tuple[ExtraChecks, Route, Any]]:
        """Each value that has checks, outermost first."""
        if self.keys or self.rules:
            yield self, route, value
        if isinstance(value, dict):
            for name, inner in self.fields.items():
                if value.get(name) is not None:
                    yield from inner.visit(value[name], (*route, name))
        if self.entries is not None and isinstance(value, dict | list):
            for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
                if entry is not None:
                    yield from self.entries.visit(entry, (*route, key))


def close_schema(schema: Schema) -> tuple[Schema, ExtraChecks]:
    """The closed schema of a whole object, and its extra checks."""
    found, extra = _close(schema)
    properties = {
        **found.get("properties", {}),
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": _METADATA,
    }
    # labels and so on are in ObjectMeta; a definition can only restrict the name
    name = schema.get("properties", {}).get("metadata", {}).get("properties", {}).get("name")
    if name is not None:
        properties["metadata"] = {"allOf": [_METADATA, {"properties": {"name": _close(name)[0]}}]}
    return {**found, "properties": properties}, extra


def with_defaults(schema: Schema, value: object) -> Any:
    """A value as an API server evaluates rules for it: with the defaults of its definition, and without null fields,
    which have no default if they may be null. Null entries stay.
    """
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        values = schema.get("additionalProperties")
        null_entries = isinstance(values, dict) and values.get("nullable")
        given = {
            name: inner["default"]
            for name, inner in properties.items()
            if "default" in inner and not (name in value and value[name] is None and inner.get("nullable"))
        }
        known = {name: values if isinstance(values, dict) else {} for name in value} | properties
        given |= {
            name: inner
            for name, inner in value.items()
            if inner is not None or (null_entries and name not in properties)
        }
        return {name: with_defaults(known[name], inner) for name, inner in given.items()}
    if isinstance(value, list):
        items = schema.get("items")
        return [with_defaults(items, inner) for inner in value] if isinstance(items, dict) else value
    return value


def schema_at(schema: Schema, route: Route) -> Any:
    """The schema of the value at a route of a whole object, as it is written; None if it is not described."""
    value: Any = schema
    for step in route:
        holder = value if isinstance(value, dict) else {}
        fields = holder.get("properties") or {}
        inner = holder.get("items" if isinstance(step, int) else "additionalProperties")
        value = fields.get(step, inner) if not isinstance(step, int) else inner
    return value if isinstance(value, dict) else None


def closed(schema: Schema) -> Schema:
    """The closed schema of a value."""
    return _close(schema)[0]


def _close(schema: Schema, *, in_open_list: bool = False) -> tuple[Schema, ExtraChecks]:
    """`in_open_list` is for the entries of a list that preserves unknown fields: they preserve those, too
    (`skipPrune` of `pruning/algorithm.go`).
    """
    is_open = bool(schema.get(_PRESERVE) or in_open_list)
    found = {key: schema[key] for key in _KEPT if key in schema}
    extra = ExtraChecks()
    any_number = schema.get("x-kubernetes-int-or-string", False)
    if any_number:
        found["type"] = ["integer", "string"]
    _bounds(schema, found)
    for combination in _COMBINED:
        # the API server does not need these for int-or-string values
        if combination in schema and not any_number:
            found[combination] = [_value_checks(one) for one in schema[combination]]
    if "not" in schema:
        found["not"] = _value_checks(schema["not"])
    _fields(schema, found, extra, is_open=is_open)
    _entries(schema, found, extra, is_open=is_open)
    extra.rules = tuple(_rules(schema))
    extra.schema = schema if extra.rules else None
    if schema.get("nullable"):
        found = _nullable(found)
    return found, extra


def _bounds(schema: Schema, found: Schema) -> None:
    if schema.get("type") == "integer" or schema.get("x-kubernetes-int-or-string"):
        found["minimum"] = max(schema.get("minimum", -_INT64_BOUND), -_INT64_BOUND)
        found["maximum"] = min(schema.get("maximum", _INT64_BOUND - 1), _INT64_BOUND - 1)
    for name in ("Minimum", "Maximum"):  # booleans in draft 4
        exclusive = found.pop(f"exclusive{name}", False)
        if exclusive is True and name.lower() in found:
            found[f"exclusive{name}"] = found.pop(name.lower())
    if (format_ := format_of(schema)) is not None:
        found[KEYWORD] = format_


def _value_checks(schema: object) -> Any:
    """A part of a combination. It checks values and does not define fields, so it is not closed."""
    if isinstance(schema, list):
        return [_value_checks(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: value for key, value in schema.items() if key in _KEPT}
    _bounds(schema, found)
    for key in ("properties",):
        if key in schema:
            found[key] = {name: _value_checks(inner) for name, inner in schema[key].items()}
    for key in ("items", "additionalProperties", "not", *_COMBINED):
        if key in schema:
            found[key] = _value_checks(schema[key])
    return found


def _fields(schema: Schema, found: Schema, extra: ExtraChecks, *, is_open: bool) -> None:
    properties: Schema = {}
    for name, inner in schema.get("properties", {}).items():
        properties[name], below = _close(inner)
        if not below.empty():
            extra.fields[name] = below
    if schema.get("x-kubernetes-embedded-resource"):
        properties |= {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": _METADATA}
        found["required"] = sorted({*found.get("required", ()), "apiVersion", "kind"})
    if properties:
        found["properties"] = properties
        given = {name for name, inner in schema.get("properties", {}).items() if "default" in inner}
        found["required"] = [name for name in found.get("required", ()) if name not in given]
    values = schema.get("additionalProperties")
    if isinstance(values, dict):
        found["additionalProperties"], below = _close(values)
        if not below.empty():
            extra.entries = below
    elif schema.get("type") == "object" and not is_open and not values:
        found["additionalProperties"] = False


def _entries(schema: Schema, found: Schema, extra: ExtraChecks, *, is_open: bool) -> None:
    items = schema.get("items")
    if isinstance(items, dict):
        found["items"], below = _close(items, in_open_list=is_open)
        if not below.empty():
            extra.entries = below
    kind = schema.get("x-kubernetes-list-type")
    if kind == "set":
        found["uniqueItems"] = True
    elif kind == "map" and isinstance(items, dict):
        extra.keys = tuple(schema.get("x-kubernetes-list-map-keys", ()))


def _rules(schema: Schema) -> Iterator[tuple[str, str]]:
    for rule in schema.get("x-kubernetes-validations", ()):
        expression = str(rule.get("rule", ""))
        if "oldSelf" not in expression:  # a transition rule, which needs an old object
            yield expression, str(rule.get("message") or f"`{' '.join(expression.split())[:120]}` does not hold")


def _nullable(found: Schema) -> Schema:
    if isinstance(found.get("type"), str):
        found["type"] = [found["type"], "null"]
    if "enum" in found:
        found["enum"] = [*found["enum"], None]
    return found
