"""Storage of an overlay in a namespace: the same for all of its jobs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from gen.base.findings import Location
from gen.overlay.overlay import Overlay
from gen.overlay.profiles.storage.base import StorageProfile, Volume
from gen.render.manifest import Manifest
from gen.render.parts.metadata import storage_metadata


class StoragePlan(Struct, frozen=True, kw_only=True):
    """A volume of the overlay in a namespace with jobs that use it."""

    volume: Volume
    profile: StorageProfile
    place: Location
    """Place of its declaration."""


def volume_of(overlay: Overlay, namespace: str, name: str) -> Volume:
    """A volume that the overlay declares, in one namespace."""
    declared = overlay.fields.volumes[name]
    modes = declared.access_modes or (("ReadOnlyMany",) if declared.read_only else ("ReadWriteMany",))
    return Volume(
        name=name,
        namespace=namespace,
        size=declared.size or "",
        access_modes=modes,
        mount_options=declared.mount_options,
        zone=declared.zone,
        read_only=declared.read_only,
    )


def plan_storage(overlay: Overlay, uses: Iterable[tuple[str, str]]) -> tuple[StoragePlan, ...]:
    """Storage for pairs of a namespace and a volume, sorted."""
    return tuple(
        StoragePlan(
            volume=volume_of(overlay, namespace, name),
            profile=overlay.fields.volumes[name].profile,
            place=overlay.place("volumes", name, key=True),
        )
        for namespace, name in sorted(set(uses))
    )


def storage_objects(plan: StoragePlan) -> Iterator[Manifest]:
    """Objects of a volume in a namespace."""
    for body in plan.profile.objects(plan.volume):
        name, namespace = body["metadata"]["name"], body["metadata"].get("namespace")
        body["metadata"] = storage_metadata(name, namespace, plan.volume.name)
        yield Manifest(body=body, name=name, source=plan.place, folder=plan.volume.namespace, tree="storage")
