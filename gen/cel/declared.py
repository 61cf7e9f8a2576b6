"""Types and values of objects by the schema of their definition.

From `SchemaDeclType` of `apiserver/pkg/cel/common/schemas.go`, and `UnstructuredToVal` of `valuesunstructured.go`.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any, Final

from gen.cel.environment import Environment
from gen.cel.errors import CelError
from gen.cel.escaping import escaped
from gen.cel.types import BOOL, BYTES, DOUBLE, DURATION, DYN, INT, STRING, TIMESTAMP, Type, list_of, map_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_SIMPLE: Final = {"boolean": BOOL, "number": DOUBLE, "integer": INT}
_FORMATS: Final = {"byte": BYTES, "duration": DURATION, "date": TIMESTAMP, "date-time": TIMESTAMP}
_METADATA: Final = "metadata"


def declared_environment(schema: Mapping[str, Any], *names: str, root: bool = False, minor: int = 0) -> Environment:
    """The environment in which variables have the type of a schema; a value without a type is `dyn`."""
    messages: dict[str, dict[str, Type]] = {}
    found = _type(schema, "object", messages, root=root) or DYN
    return Environment(dict.fromkeys(names, found), messages, minor=minor)


def _type(schema: Any, name: str, messages: dict[str, dict[str, Type]], *, root: bool = False) -> Type | None:
    """The type of a schema; None if it has none, so that no rule can use the value."""
    if not isinstance(schema, dict):
        return None
    if schema.get("x-kubernetes-int-or-string"):
        return DYN
    kind = schema.get("type")
    if kind == "array":
        item = _type(schema.get("items"), f"{name}.@idx", messages)
        return list_of(item) if item is not None else None
    if kind == "object":
        return _object(schema, name, messages, root=root or bool(schema.get("x-kubernetes-embedded-resource")))
    if kind == "string":
        return _FORMATS.get(str(schema.get("format")), STRING)
    return _SIMPLE.get(str(kind))


def _object(schema: dict[str, Any], name: str, messages: dict[str, dict[str, Type]], *, root: bool) -> Type | None:
    values = schema.get("additionalProperties")
    if isinstance(values, dict):
        value = _type(values, f"{name}.@elem", messages)
        return map_of(STRING, value) if value is not None else None
    fields = {
        escaped(field): found
        for field, inner in (schema.get("properties") or {}).items()
        if (found := _type(inner, f"{name}.{field}", messages)) is not None
    }
    if root:
        messages[f"{name}.{_METADATA}"] = {"name": STRING, "generateName": STRING}
        fields |= {"apiVersion": STRING, "kind": STRING, _METADATA: Type(f"{name}.{_METADATA}")}
    messages[name] = fields
    return Type(name)


def has_typed_values(schema: Any) -> bool:
    """Whether a schema has values that expressions read as another type than that of their JSON."""
    if isinstance(schema, dict):
        if schema.get("type") == "number" or (schema.get("type") == "string" and schema.get("format") in _FORMATS):
            return True
        return any(map(has_typed_values, schema.values()))
    return isinstance(schema, list) and any(map(has_typed_values, schema))


def typed_value(schema: Any, value: Any) -> Any:
    """A value as expressions see it: numbers as doubles, dates as timestamps."""
    if not isinstance(schema, dict):
        return value
    if isinstance(value, dict):
        properties, values = schema.get("properties") or {}, schema.get("additionalProperties")
        return {name: typed_value(properties.get(name, values), inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [typed_value(schema.get("items"), inner) for inner in value]
    if schema.get("type") == "number" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if schema.get("type") == "string" and isinstance(value, str) and schema.get("format") in _FORMATS:
        return _parsed(str(schema["format"]), value)
    return value


def _parsed(name: str, value: str) -> Any:
    from gen.cel.library.times import parse_duration, parse_timestamp  # noqa: PLC0415 - few schemas have these formats

    try:
        if name == "byte":
            return base64.b64decode(value, validate=True)
        if name == "duration":
            return parse_duration(value)
        return parse_timestamp(value if name == "date-time" else f"{value}T00:00:00Z")
    except (CelError, binascii.Error, ValueError):
        return value
