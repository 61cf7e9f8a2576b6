"""Variables of expressions, with their types: objects of a definition, and the input of admission policies.

From `SchemaDeclType` of `apiserver/pkg/cel/common/schemas.go`, `UnstructuredToVal` of `valuesunstructured.go`, and
`BuildRequestType` and `BuildNamespaceType` of `apiserver/pkg/admission/plugin/cel/compile.go`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final

from gen.kubernetes.cel import values as cel
from gen.kubernetes.cel.environment import Environment
from gen.kubernetes.cel.tree import escaped

_SIMPLE: Final = {"boolean": cel.BOOL, "number": cel.DOUBLE, "integer": cel.INT}
_FORMATS: Final = {"byte": cel.BYTES, "duration": cel.DURATION, "date": cel.TIMESTAMP, "date-time": cel.TIMESTAMP}
_METADATA: Final = "metadata"


def declared_environment(schema: Mapping[str, object], *names: str, root: bool = False, minor: int = 0) -> Environment:
    """The environment with variables that have the type of a schema; a value without a type is `dyn`."""
    messages: dict[str, dict[str, cel.Type]] = {}
    found = _type(schema, "object", messages, root=root) or cel.DYN
    return Environment(dict.fromkeys(names, found), messages, minor=minor)


def _type(
    schema: object, name: str, messages: dict[str, dict[str, cel.Type]], *, root: bool = False
) -> cel.Type | None:
    """The type of a schema; None if it has none, so that no rule can use the value."""
    if not isinstance(schema, dict):
        return None
    if schema.get("x-kubernetes-int-or-string"):
        return cel.DYN
    kind = schema.get("type")
    if kind == "array":
        item = _type(schema.get("items"), f"{name}.@idx", messages)
        return cel.list_of(item) if item is not None else None
    if kind == "object":
        return _object(schema, name, messages, root=root or bool(schema.get("x-kubernetes-embedded-resource")))
    if kind == "string":
        return _FORMATS.get(str(schema.get("format")), cel.STRING)
    return _SIMPLE.get(str(kind))


def _object(
    schema: dict[str, Any], name: str, messages: dict[str, dict[str, cel.Type]], *, root: bool
) -> cel.Type | None:
    values = schema.get("additionalProperties")
    if isinstance(values, dict):
        value = _type(values, f"{name}.@elem", messages)
        return cel.map_of(cel.STRING, value) if value is not None else None
    fields = {
        escaped(field): found
        for field, inner in (schema.get("properties") or {}).items()
        if (found := _type(inner, f"{name}.{field}", messages)) is not None
    }
    if root:
        messages[f"{name}.{_METADATA}"] = {"name": cel.STRING, "generateName": cel.STRING}
        fields |= {"apiVersion": cel.STRING, "kind": cel.STRING, _METADATA: cel.Type(f"{name}.{_METADATA}")}
    messages[name] = fields
    return cel.Type(name)


def has_typed_values(schema: object) -> bool:
    """Whether a schema has values that expressions read as another type than that of their JSON."""
    if isinstance(schema, dict):
        if schema.get("type") == "number" or (schema.get("type") == "string" and schema.get("format") in _FORMATS):
            return True
        return any(map(has_typed_values, schema.values()))
    return isinstance(schema, list) and any(map(has_typed_values, schema))


def typed_value(schema: object, value: object) -> Any:
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
    from gen.kubernetes.cel.library.times import parse_duration, parse_timestamp

    try:
        if name == "byte":
            return base64.b64decode(value, validate=True)
        if name == "duration":
            return parse_duration(value)
        return parse_timestamp(value if name == "date-time" else f"{value}T00:00:00Z")
    except (cel.CelError, binascii.Error, ValueError):
        return value


_STRINGS: Final = cel.list_of(cel.STRING)
_REQUEST: Final = cel.Type("kubernetes.AdmissionRequest")
_NAMESPACE: Final = cel.Type("kubernetes.Namespace")
_KIND: Final = cel.Type("kubernetes.GroupVersionKind")
_RESOURCE: Final = cel.Type("kubernetes.GroupVersionResource")
VARIABLES: Final = "kubernetes.variables"
MESSAGES: Final[Mapping[str, Mapping[str, cel.Type]]] = {
    _KIND.name: {"group": cel.STRING, "version": cel.STRING, "kind": cel.STRING},
    _RESOURCE.name: {"group": cel.STRING, "version": cel.STRING, "resource": cel.STRING},
    "kubernetes.UserInfo": {
        "username": cel.STRING,
        "uid": cel.STRING,
        "groups": _STRINGS,
        "extra": cel.map_of(cel.STRING, _STRINGS),
    },
    _REQUEST.name: {
        **dict.fromkeys(("kind", "requestKind"), _KIND),
        **dict.fromkeys(("resource", "requestResource"), _RESOURCE),
        **dict.fromkeys(("subResource", "requestSubResource", "name", "namespace", "operation"), cel.STRING),
        "userInfo": cel.Type("kubernetes.UserInfo"),
        "dryRun": cel.BOOL,
        "options": cel.DYN,
    },
    _NAMESPACE.name: {
        "metadata": cel.Type("kubernetes.NamespaceMetadata"),
        "spec": cel.Type("kubernetes.NamespaceSpec"),
        "status": cel.Type("kubernetes.NamespaceStatus"),
    },
    "kubernetes.NamespaceSpec": {"finalizers": _STRINGS},
    "kubernetes.NamespaceStatus": {
        "conditions": cel.list_of(cel.Type("kubernetes.NamespaceCondition")),
        "phase": cel.STRING,
    },
    "kubernetes.NamespaceCondition": {
        **dict.fromkeys(("status", "type", "message", "reason"), cel.STRING),
        "lastTransitionTime": cel.TIMESTAMP,
    },
    "kubernetes.NamespaceMetadata": {
        **dict.fromkeys(("name", "generateName", "namespace", "UID", "resourceVersion"), cel.STRING),
        **dict.fromkeys(("labels", "annotations"), cel.map_of(cel.STRING, cel.STRING)),
        **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), cel.TIMESTAMP),
        **dict.fromkeys(("deletionGracePeriodSeconds", "generation"), cel.INT),
        "finalizers": _STRINGS,
    },
}
_ROOTS: Final = {
    "object": cel.DYN,
    "oldObject": cel.DYN,
    "params": cel.DYN,
    "request": _REQUEST,
    "namespaceObject": _NAMESPACE,
    "authorizer": cel.Type("kubernetes.authorization.Authorizer"),
    "authorizer.requestResource": cel.Type("kubernetes.authorization.ResourceCheck"),
    "variables": cel.Type(VARIABLES),
}


def admission_environment(
    names: AbstractSet[str], variables: Mapping[str, cel.Type] | None = None, minor: int = 0
) -> Environment:
    """The environment with some of the variables; any other name is `dyn`. `variables` are those of a policy."""
    known = names | ({"authorizer.requestResource"} if "authorizer" in names else set())
    roots = {name: _ROOTS.get(name, cel.DYN) for name in known}
    return Environment(roots, {**MESSAGES, VARIABLES: variables or {}}, minor=minor)
