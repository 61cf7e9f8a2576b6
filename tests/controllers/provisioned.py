"""A storage class without a provisioner, and the volume that one would create for a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.e2e.cluster import Cluster


def provision(cluster: Cluster, name: str, namespace: str, claim: str, *, resizable: bool) -> None:
    """Create a class with this name, and a volume of 10Gi for the claim."""
    cluster.apply(
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": name},
            "provisioner": "example.com/none",
            "allowVolumeExpansion": resizable,
        }
    )
    owner = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": claim}
    cluster.apply(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"pvc-{name}"},
            "spec": {
                "capacity": {"storage": "10Gi"},
                "accessModes": ["ReadWriteMany"],
                "storageClassName": name,
                "persistentVolumeReclaimPolicy": "Retain",
                "claimRef": owner,
                "nfs": {"server": "nfs.example.com", "path": "/x"},
            },
        }
    )
