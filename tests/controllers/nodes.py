"""Nodes that no kubelet runs: schedulers bind pods to them, and nothing starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.e2e.cluster import Cluster

POOL = "example.com/pool"
"""Label of the nodes of one test."""


def add_node(cluster: Cluster, name: str, pool: str, gpus: int = 8) -> None:
    """A ready node with devices."""
    resources = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": str(gpus)}
    labels = {POOL: pool, "kubernetes.io/hostname": name}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
    created = cluster.client.create("/api/v1/nodes", node)
    assert created.status == 201, created.message
    conditions = [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ready"}]
    status = {"capacity": resources, "allocatable": resources, "conditions": conditions}
    path = f"/api/v1/nodes/{name}"
    assert cluster.client.merge(f"{path}/status", {"status": status}).status == 200
    # admission taints every new node, until the controller of nodes sees it ready
    assert cluster.client.merge(path, {"spec": {"taints": None}}).status == 200
