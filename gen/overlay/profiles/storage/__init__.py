"""Storage profiles: their base classes, the objects of static volumes, and the registry, one file each.

See `docs/extending.md`. Binding follows the Kubernetes documentation of persistent volumes: an empty `storageClassName`
on both sides disables the default class, `volumeName` selects the volume and `claimRef` reserves it. Without both,
another claim could bind to the volume first.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal

from msgspec import Struct

from gen.base import LazyRegistry, regex
from gen.job.profile import Profile
from gen.job.scalars import matching, schema
from gen.kubernetes.objects import ZONE, Body, present

SETTINGS: Final = frozenset({"size", "accessModes", "mountOptions", "zone"})
"""Settings of a volume for its PersistentVolume and claim. `readOnly` and `mountReadOnly` also apply to its mounts."""
RESERVED_VOLUMES: Final = frozenset({"code", "code-credentials", "files", "gen", "shm", "tmp"})
"""Volumes that gen adds to pods by itself."""
Server = Annotated[
    str,
    matching(
        regex(r"[A-Za-z0-9][-A-Za-z0-9.]*"),
        253,
        "a host name or an IP address",
        "move the directory to `path`",
        form=schema("host name or address", "string"),
    ),
]
AccessMode = Literal["ReadWriteMany", "ReadOnlyMany", "ReadWriteOnce"]


class Volume(Struct, frozen=True, kw_only=True):
    """A volume of the overlay in one namespace."""

    name: str
    namespace: str
    size: str
    access_modes: tuple[str, ...]
    mount_options: tuple[str, ...]
    zone: str | None = None
    read_only: bool

    @property
    def persistent_volume(self) -> str:
        """Name of the PersistentVolume. It is cluster-scoped, so its name includes the namespace."""
        return f"{self.namespace}-{self.name}"


class StorageProfile(Profile, ABC):
    """Storage profile: a way to provide a volume."""

    needs_size: ClassVar[bool] = False
    """Whether a rendered object requires a size."""
    settings: ClassVar[frozenset[str]] = frozenset()
    """Settings of the volume that the rendered objects contain, of those in `SETTINGS`."""
    outlives_pods: ClassVar[bool] = True
    """Whether other pods, such as TensorBoard, can read the files of a training pod."""

    @property
    def for_host_network(self) -> str:
        """What would let pods on the host network mount the volume; empty if they can."""
        return ""

    @property
    def pod_annotations(self) -> Mapping[str, str]:
        """Annotations of the pods that mount the volume."""
        return {}

    @property
    def pod_labels(self) -> Mapping[str, str]:
        """Labels of the pods that mount the volume."""
        return {}

    @property
    def node_labels(self) -> Mapping[str, str]:
        """Labels of the only nodes that can mount the volume; empty for all nodes of its zone."""
        return {}

    def objects(self, volume: Volume) -> tuple[Body, ...]:
        """Storage objects to render; none if they are managed elsewhere."""
        return ()

    @abstractmethod
    def pod_source(self, volume: Volume) -> Body:
        """Volume source in the `volumes` of a pod."""


class ClaimedProfile(StorageProfile):
    """Volume with a rendered PersistentVolumeClaim of the same name."""

    needs_size: ClassVar[bool] = True
    settings: ClassVar[frozenset[str]] = frozenset({"size", "accessModes"})

    def pod_source(self, volume: Volume) -> Body:
        claim = present(claimName=volume.name, readOnly=volume.read_only or None)
        return {"persistentVolumeClaim": claim}


class StaticProfile(ClaimedProfile):
    """Statically provisioned PersistentVolume, bound to one claim."""

    settings: ClassVar[frozenset[str]] = SETTINGS
    mount_options: ClassVar[tuple[str, ...]] = ()
    """Mount options of all volumes of this profile. Those of the overlay are appended."""

    @property
    def own_options(self) -> tuple[str, ...]:
        """`mount_options`, for the fields of this volume."""
        return self.mount_options

    @abstractmethod
    def persistent_source(self, volume: Volume) -> Body:
        """Volume source in the `spec` of the PersistentVolume."""

    def objects(self, volume: Volume) -> tuple[Body, ...]:
        return _persistent_volume(self, volume), persistent_volume_claim(volume, "", volume.persistent_volume)


def csi(
    driver: str,
    volume: Volume,
    attributes: Body,
    *,
    handle: str | None = None,
    secret: str | None = None,
    stage_secret: str | None = None,
    fs_type: str | None = None,
) -> Body:
    """CSI volume source. Secrets are in the namespace of the job.

    The handle is the volume name, unless the driver finds the volume by its handle: it must be unique, and NAS uses it
    to look up the volume.
    """
    return {
        "csi": present(
            driver=driver,
            volumeHandle=handle or volume.persistent_volume,
            readOnly=volume.read_only or None,
            fsType=fs_type,
            volumeAttributes=attributes or None,
            nodePublishSecretRef=_secret(volume, secret),
            nodeStageSecretRef=_secret(volume, stage_secret),
        )
    }


def _secret(volume: Volume, name: str | None) -> Body | None:
    return {"name": name, "namespace": volume.namespace} if name else None


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
    if options := [*dict.fromkeys((*profile.own_options, *volume.mount_options))]:
        spec["mountOptions"] = options
    zone = {ZONE: volume.zone} if volume.zone is not None else {}
    labels = {**zone, **profile.node_labels}
    if expressions := [{"key": key, "operator": "In", "values": [value]} for key, value in labels.items()]:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}
    spec |= profile.persistent_source(volume)
    metadata = {"name": volume.persistent_volume}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec}


STORAGE: Final[LazyRegistry[StorageProfile]] = LazyRegistry(
    {
        "azureBlob": "gen.overlay.profiles.storage.azure:AzureBlob",
        "azureFile": "gen.overlay.profiles.storage.azure:AzureFile",
        "azureLustre": "gen.overlay.profiles.storage.azure:AzureLustre",
        "cephfs": "gen.overlay.profiles.storage.cephfs:CephFS",
        "cfs": "gen.overlay.profiles.storage.tencent:CFS",
        "claim": "gen.overlay.profiles.storage.builtin:Claim",
        "cos": "gen.overlay.profiles.storage.tencent:COS",
        "cpfs": "gen.overlay.profiles.storage.alibaba:CPFS",
        "csi": "gen.overlay.profiles.storage.builtin:CSI",
        "efs": "gen.overlay.profiles.storage.aws:EFS",
        "emptyDir": "gen.overlay.profiles.storage.builtin:EmptyDir",
        "filestore": "gen.overlay.profiles.storage.google:Filestore",
        "fluid": "gen.overlay.profiles.storage.fluid:Fluid",
        "fsxLustre": "gen.overlay.profiles.storage.aws:FSxLustre",
        "gcsFuse": "gen.overlay.profiles.storage.google:GCSFuse",
        "hostPath": "gen.overlay.profiles.storage.builtin:HostPath",
        "juicefs": "gen.overlay.profiles.storage.juicefs:JuiceFS",
        "local": "gen.overlay.profiles.storage.builtin:Local",
        "nas": "gen.overlay.profiles.storage.alibaba:NAS",
        "nfs": "gen.overlay.profiles.storage.builtin:NFS",
        "oss": "gen.overlay.profiles.storage.alibaba:OSS",
        "s3": "gen.overlay.profiles.storage.aws:S3",
        "storageClass": "gen.overlay.profiles.storage.builtin:StorageClass",
    }
)

__all__ = ["STORAGE", "StorageProfile", "Volume"]
