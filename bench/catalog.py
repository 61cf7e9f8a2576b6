"""Write the schemas of gen as self-contained files for kubeconform, so that both use the same schemas."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gen.kinds import KINDS
from gen.schemas.registry import Schemas

if TYPE_CHECKING:
    from pathlib import Path

COMPANIONS = (
    ("apps/v1", "Deployment"),
    ("v1", "ConfigMap"),
    ("v1", "PersistentVolume"),
    ("v1", "PersistentVolumeClaim"),
    ("v1", "Service"),
)
"""Kinds of objects that jobs of any kind have."""
LOCATION = "{{ .ResourceKind }}{{ .KindSuffix }}.json"


def write_catalog(folder: Path, version: str) -> str:
    """Write the schemas to `folder`, and return the `-schema-location` for kubeconform."""
    schemas = Schemas(version)
    runs = [(version, job.facts.kind) for job in KINDS.values() for version in job.facts.versions]
    for api_version, kind in (*COMPANIONS, *runs):
        definitions: dict[str, Any] = {}
        document = _bundled(schemas.schema(api_version, kind), schemas, definitions)
        document["$defs"] = definitions
        suffix = "-".join(part.split(".")[0] for part in api_version.split("/"))
        (folder / f"{kind.lower()}-{suffix}.json").write_text(json.dumps(document), "utf-8")
    return f"{folder}/{LOCATION}"


def _bundled(value: Any, schemas: Schemas, definitions: dict[str, Any]) -> Any:
    """A copy with all references resolved into `definitions`."""
    if isinstance(value, list):
        return [_bundled(item, schemas, definitions) for item in value]
    if not isinstance(value, dict):
        return value
    if isinstance(reference := value.get("$ref"), str):
        name = reference.rsplit("/", 1)[-1]
        if name not in definitions:
            definitions[name] = {}
            target = schemas.resolve({"$ref": reference})
            definitions[name] = _bundled(target, schemas, definitions)
        return {"$ref": f"#/$defs/{name}"}
    return {key: _bundled(item, schemas, definitions) for key, item in value.items() if key != "$comment"}
