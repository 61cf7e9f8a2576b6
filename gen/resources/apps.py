"""Workloads that do not end (`apps/v1`)."""

from __future__ import annotations

from typing import Final

from gen.resources.base import ANY_ITEM, Count, Pattern, PodSet, Resource


def _workload(kind: str, *counts: Count, claims: tuple[Pattern, ...] = ()) -> Resource:
    return Resource(
        group="apps",
        kind=kind,
        versions={"apps/v1": ("Always",)},
        pods=(PodSet(template=("spec", "template"), counts=counts),),
        known_to_engines=True,
        claims=claims,
    )


_REPLICAS = Count(route=("spec", "replicas"))

DEPLOYMENT: Final = _workload("Deployment", _REPLICAS)
REPLICA_SET: Final = _workload("ReplicaSet", _REPLICAS)
STATEFUL_SET: Final = _workload(
    "StatefulSet", _REPLICAS, claims=(("spec", "volumeClaimTemplates", ANY_ITEM, "metadata", "name"),)
)
DAEMON_SET: Final = _workload("DaemonSet")
