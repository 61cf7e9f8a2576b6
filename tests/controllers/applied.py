"""What shows that an engine has changed an object."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

KINDS = (
    ("PyTorchJob", "kubeflow.org"),
    ("Job", "batch"),
    ("Deployment", "apps"),
    ("Service", ""),
    ("PersistentVolumeClaim", ""),
)
"""Kinds of objects in the namespaces of the tests, with their groups."""
Applied = dict[str, tuple[str, int, str]]
"""Uid, generation and time of the last change by the engine, by object."""


def applied(cluster: Cluster, namespaces: list[str], engine: str) -> Applied:
    """All that the engine, by the name of its field manager, has applied in these namespaces, and their volumes."""
    found = [body for namespace in namespaces for kind, group in KINDS for body in cluster.live(group, kind, namespace)]
    volumes = cluster.live("", "PersistentVolume", "")
    found += [body for body in volumes if body["spec"].get("claimRef", {}).get("namespace") in namespaces]
    return {_name(body): _state(body, engine) for body in found if _is_of_engine(body["metadata"])}


def _is_of_engine(metadata: Body) -> bool:
    """Not those that are being deleted, nor those that an operator creates for a run."""
    return "deletionTimestamp" not in metadata and "ownerReferences" not in metadata


def _name(body: Body) -> str:
    metadata = body["metadata"]
    return f"{body['kind']} {metadata.get('namespace', '')}/{metadata['name']}"


def _state(body: Body, engine: str) -> tuple[str, int, str]:
    metadata = body["metadata"]
    entries = [entry for entry in metadata["managedFields"] if "subresource" not in entry]
    times = [entry["time"] for entry in entries if entry["manager"] == engine]
    return metadata["uid"], metadata.get("generation", 0), max(times, default="")
