"""Write the schemas of gen as self-contained files for kubeconform, so that both use the same schemas."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gen.job.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from gen.kubernetes.schemas.registry import Schemas

COMPANIONS = (
    ("apps/v1", "Deployment"),
    ("v1", "ConfigMap"),
    ("v1", "PersistentVolume"),
    ("v1", "PersistentVolumeClaim"),
    ("v1", "Service"),
)
"""Kinds of objects that jobs of any kind have."""
LOCATION = "{{ .ResourceKind }}{{ .KindSuffix }}.json"


def kinds_of_jobs() -> list[tuple[str, str]]:
    """The kinds of the objects of generated repositories."""
    return [*COMPANIONS, *((version, job.facts.kind) for job in KINDS.values() for version in job.facts.versions)]


def write_catalog(folder: Path, schemas: Schemas, kinds: Iterable[tuple[str, str]]) -> str:
    """Write the schemas of kinds to `folder`, and return the `-schema-location` for kubeconform."""
    for api_version, kind in kinds:
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
