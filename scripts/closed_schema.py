"""Write the closed schema of a kind from its definition: `python -m scripts.closed_schema CRD VERSION [OLDER_CRD...]`.

The file goes to `gen/kubernetes/schemas/data/`. Parts that Kubernetes defines, such as pod templates, become references
to the definitions of the Kubernetes version that validates. CEL rules and keyed lists have no form in JSON Schema:
write them as operator rules. Definitions of older releases with the same version add the fields of `spec` that were
removed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from gen.kubernetes.schemas.kubernetes import reference
from gen.kubernetes.schemas.registry import Schemas, versions

if TYPE_CHECKING:
    from collections.abc import Mapping

Schema = dict[str, Any]
Signature = frozenset[tuple[str, Any]]

OWN: Final = Path(__file__).parent.parent / "gen/kubernetes/schemas/data"
_COMMON: Final = "https://gen.invalid/common.json#/$defs/"
_PARTS: Final = ("io.k8s.api.core.v1.", "io.k8s.api.networking.v1.", "io.k8s.api.autoscaling.v2.")
_KEPT: Final = ("type", "enum", "format", "minimum", "maximum", "minLength", "maxLength", "pattern", "minItems")
_GROWING: Final = {
    "io.k8s.api.core.v1.Volume": {"hostPath", "persistentVolumeClaim"},
    "io.k8s.api.core.v1.VolumeMount": {"mountPath", "subPathExpr"},
}
"""Parts that gain fields with many versions of Kubernetes, each with fields that no other part has."""
_FILLED: Final = {"JobSet": {("spec", "failurePolicy", "rules"): "name"}}
"""Required fields of entries that a mutating webhook fills in before the API server checks."""
_BESIDE: Final = frozenset({"metadata", "status"})
_FEWEST, _DEPTH, _WIDTH = 2, 2, 120


def main(definition: str, version: str, *older: str) -> None:
    schema = _read(definition, version)
    fields = schema["properties"]["spec"]["properties"]
    for path in older:
        removed = _read(path, version)["properties"]["spec"]["properties"]
        fields |= {name: inner for name, inner in removed.items() if name not in fields}
    path = OWN / schema["$id"].rpartition("/")[2]
    path.write_text(layout(schema) + "\n", "utf-8")
    sys.stdout.write(f"wrote {path}; add it to `CRDS` of tests/kubernetes/schemas/test_registry.py\n")


def _read(definition: str, version: str) -> Schema:
    spec = yaml.load(Path(definition).read_text("utf-8"), yaml.CSafeLoader)["spec"]
    (served,) = (one for one in spec["versions"] if one["name"] == version)
    return closed_schema(spec["group"], version, spec["names"]["kind"], served["schema"]["openAPIV3Schema"])


def closed_schema(group: str, version: str, kind: str, upstream: Schema) -> Schema:
    """The closed schema of an object; `upstream` is the schema in its definition."""
    known = _known_parts()
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"https://gen.invalid/{group}_{version}_{kind.lower()}.json",
        "type": "object",
        "additionalProperties": False,
        "required": ["apiVersion", "kind", "metadata"],
        "properties": {
            "apiVersion": {"type": "string", "enum": [f"{group}/{version}"]},
            "kind": {"type": "string", "enum": [kind]},
            "metadata": {"$ref": f"{_COMMON}Metadata"},
            "status": {"type": "object"},
            "spec": _closed(upstream["properties"]["spec"], known),
        },
    }
    for route, field in _FILLED.get(kind, {}).items():
        holder: Schema = schema
        for step in route:
            holder = holder["properties"][step]
        holder["items"]["required"].remove(field)
    return schema


def _closed(schema: Schema, known: Mapping[Signature, str]) -> Schema:
    part = _part(schema, known)
    if part is not None:
        return reference(part)
    if schema.get("x-kubernetes-int-or-string"):
        return {"$ref": f"{_COMMON}Quantity"} if "pattern" in schema else {"type": ["integer", "string"]}
    found: Schema = {key: schema[key] for key in _KEPT if key in schema}
    if schema.get("type") == "object":
        found |= _fields(schema, known)
    if "items" in schema:
        found["items"] = _closed(schema["items"], known)
    if schema.get("x-kubernetes-list-type") == "set":
        found["uniqueItems"] = True
    return found


def _fields(schema: Schema, known: Mapping[Signature, str]) -> Schema:
    properties = schema.get("properties", {})
    values = schema.get("additionalProperties", False)
    found: Schema = {"additionalProperties": _closed(values, known) if isinstance(values, dict) else values}
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        found = {}
    required = [name for name in schema.get("required", ()) if "default" not in properties[name]]
    if required:
        found["required"] = required
    if properties:
        found["properties"] = {name: _closed(inner, known) for name, inner in sorted(properties.items())}
    return found


def _part(schema: Schema, known: Mapping[Signature, str]) -> str | None:
    """The part of Kubernetes that a schema describes. Definitions leave out most of `metadata`."""
    properties = schema.get("properties", {})
    inner = properties.get("spec", {}).get("properties", {})
    if "restartPolicy" in inner:  # definitions of parts of a template lack it
        return "io.k8s.api.core.v1.PodTemplateSpec"
    if "completions" in inner:
        return "io.k8s.api.batch.v1.JobTemplateSpec"
    for name, fields in _GROWING.items():
        if fields <= properties.keys():
            return name
    return known.get(_signature(schema)) if len(properties) > _FEWEST else None


def _known_parts() -> dict[Signature, str]:
    """Parts that every Kubernetes version has, by the names of their fields."""
    newest = Schemas(versions()[-1])
    shared = set.intersection(*(set(Schemas(version).types) for version in versions()))
    names = sorted(name for name in shared if name.startswith(_PARTS))
    return {_signature(newest.types[name], newest): name for name in reversed(names)}


def _signature(schema: Schema, of: Schemas | None = None, depth: int = _DEPTH) -> Signature:
    if of is not None:
        schema = of.resolve(schema)
    fields = schema.get("properties", {}).items()
    return frozenset(
        (name, _signature(inner, of, depth - 1) if depth and name not in _BESIDE else None) for name, inner in fields
    )


def layout(value: Any, indent: int = 0, prefix: int = 0) -> str:
    """JSON with short objects on one line."""
    line = json.dumps(value)
    if not isinstance(value, dict) or not value or len(line) + indent + prefix < _WIDTH:
        return line
    inner = " " * (indent + 2)
    lines = [f"{inner}{json.dumps(key)}: {layout(one, indent + 2, len(key) + 4)}" for key, one in value.items()]
    return "{\n" + ",\n".join(lines) + "\n" + " " * indent + "}"


if __name__ == "__main__":
    main(*sys.argv[1:])
