"""Permissions of an AppProject."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any


def permitted(project: dict[str, Any], body: dict[str, Any]) -> bool:
    """Whether an AppProject lets an object be applied (`pkg/apis/application/v1alpha1/app_project_types.go`)."""
    group = body["apiVersion"].rpartition("/")[0]
    spec, metadata = project["spec"], body["metadata"]
    if "namespace" not in metadata:
        allowed = spec.get("clusterResourceWhitelist", [])
        return any(
            (one["group"], one["kind"]) == (group, body["kind"]) and fnmatchcase(metadata["name"], one["name"])
            for one in allowed
        )
    patterns = [destination["namespace"] for destination in spec["destinations"]]
    denied = any(pattern == f"!{metadata['namespace']}" for pattern in patterns)
    fits = any(fnmatchcase(metadata["namespace"], pattern) for pattern in patterns)
    return fits and not denied and {"group": group, "kind": body["kind"]} in spec["namespaceResourceWhitelist"]
