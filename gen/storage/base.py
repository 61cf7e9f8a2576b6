"""What a storage profile says, and the objects that all statically provisioned ones share.

Binding follows the Kubernetes documentation of persistent volumes: an empty `storageClassName` on both sides keeps
the default class out, `volumeName` picks the volume and `claimRef` reserves it; without both another claim could
take it first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

from gen.kubernetes import Body, present
from gen.model.profile import Profile

AccessMode = Literal["ReadWriteMany", "ReadOnlyMany", "ReadWriteOnce"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """One of the overlay's volumes as one namespace uses it."""

    name: str
    namespace: str
    size: str
    access_modes: tuple[str, ...]
    mount_options: tuple[str, ...]
    read_only: bool

    @property
    def persistent_volume(self) -> str:
        """Persistent volumes are cluster-wide, so the namespace is part of the name."""
        return f"{self.namespace}-{self.name}"


class StorageProfile(Profile, ABC):
    """One way to get a volume."""

    needs_size: ClassVar[bool] = False
    """Whether an object that is rendered has to say a size."""
    outlives_pods: ClassVar[bool] = True
    """Whether another pod, such as TensorBoard, can read what a training pod wrote."""

    def objects(self, volume: Volume) -> tuple[Body, ...]:  # noqa: ARG002 - most profiles need the volume
        """The storage objects to render; none where somebody else keeps them."""
        return ()

    @abstractmethod
    def pod_source(self, volume: Volume) -> Body:
        """The volume's source in a pod's `volumes`."""


class ClaimedProfile(StorageProfile):
    """Pods reach the volume through a claim that gen renders, named like the volume."""

    needs_size: ClassVar[bool] = True

    def pod_source(self, volume: Volume) -> Body:
        claim = present(claimName=volume.name, readOnly=volume.read_only or None)
        return {"persistentVolumeClaim": claim}


class StaticProfile(ClaimedProfile):
    """A persistent volume written out by hand, bound to one claim."""

    mount_options: ClassVar[tuple[str, ...]] = ()
    """Mount options of every volume of this profile, before the overlay's own."""

    @abstractmethod
    def persistent_source(self, volume: Volume) -> Body:
        """The source in the persistent volume's `spec`."""

    def objects(self, volume: Volume) -> tuple[Body, ...]:
        return _persistent_volume(self, volume), persistent_volume_claim(volume, "", volume.persistent_volume)


def csi(driver: str, volume: Volume, attributes: Body, *, secret: str | None = None) -> Body:
    """A CSI source. The handle equals the volume's name: NAS looks it up by it, and two alike would collide."""
    return {
        "csi": present(
            driver=driver,
            volumeHandle=volume.persistent_volume,
            readOnly=volume.read_only or None,
            volumeAttributes=attributes,
            nodePublishSecretRef={"name": secret, "namespace": volume.namespace} if secret else None,
        )
    }


def persistent_volume_claim(volume: Volume, storage_class: str, volume_name: str | None = None) -> Body:
    spec: Body = {
        "accessModes": list(volume.access_modes),
        "resources": {"requests": {"storage": volume.size}},
        "storageClassName": storage_class,
    }
    if volume_name is not None:
        spec["volumeName"] = volume_name
    metadata = {"name": volume.name, "namespace": volume.namespace}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def _persistent_volume(profile: StaticProfile, volume: Volume) -> Body:
    spec: Body = {
        "capacity": {"storage": volume.size},
        "accessModes": list(volume.access_modes),
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "",
        "claimRef": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": volume.namespace,
            "name": volume.name,
        },
    }
    if options := [*profile.mount_options, *volume.mount_options]:
        spec["mountOptions"] = options
    spec |= profile.persistent_source(volume)
    metadata = {"name": volume.persistent_volume}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec}
