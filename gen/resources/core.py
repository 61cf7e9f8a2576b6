"""Kinds of the core group, and of networking, that gen renders or that rules look at.

Changes of volumes and claims that the server accepts are from kubernetes/api `core/v1/types.go` and its validation.
"""

from __future__ import annotations

from typing import Final

from gen.resources.base import Count, PodSet, Resource
from gen.resources.updates import Updates

_V1: dict[str, tuple[str, ...]] = {"v1": ()}

CAPACITY: Final = ("spec", "capacity", "storage")
REQUEST: Final = ("spec", "resources", "requests", "storage")
RECLAIM_POLICY: Final = ("spec", "persistentVolumeReclaimPolicy")

PERSISTENT_VOLUME: Final = Resource(
    group="",
    kind="PersistentVolume",
    versions=_V1,
    updates=Updates(
        mutable=(("spec", "capacity"), ("spec", "mountOptions"), RECLAIM_POLICY, ("spec", "accessModes")),
        # `ValidatePersistentVolumeUpdate`
        added_once=(("spec", "nodeAffinity"),),
        empty_is_missing=True,
    ),
)
PERSISTENT_VOLUME_CLAIM: Final = Resource(
    group="",
    kind="PersistentVolumeClaim",
    versions=_V1,
    known_to_engines=True,
    # "only dynamically provisioned pvc can be resized" (the admission plugin `PersistentVolumeClaimResize`)
    updates=Updates(growing=REQUEST, fixed_with=("spec", "volumeName")),
)
CONFIG_MAP: Final = Resource(group="", kind="ConfigMap", versions=_V1)
SERVICE: Final = Resource(group="", kind="Service", versions=_V1, known_to_engines=True)
POD_TEMPLATE: Final = Resource(group="", kind="PodTemplate", versions=_V1, pods=(PodSet(template=("template",)),))
REPLICATION_CONTROLLER: Final = Resource(
    group="",
    kind="ReplicationController",
    versions=_V1,
    pods=(PodSet(template=("spec", "template"), counts=(Count(route=("spec", "replicas")),)),),
)
INGRESS: Final = Resource(
    group="networking.k8s.io", kind="Ingress", versions={"networking.k8s.io/v1": ()}, known_to_engines=True
)

RESOURCE_QUOTA: Final = Resource(group="", kind="ResourceQuota", versions=_V1)

DATA: Final = (PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM)
"""Kinds that refer to data, which must outlive every run."""

SHARED_HANDLES: Final = frozenset({"efs.csi.aws.com", "fsx.csi.aws.com", "filestore.csi.storage.gke.io"})
"""CSI drivers whose `volumeHandle` is the file system, so that the volumes of several namespaces have the same."""
