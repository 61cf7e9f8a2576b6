"""Storage of an overlay in a namespace: the same for all of its jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.kinds.plan import StoragePlan
from gen.storage import Volume

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gen.overlay.overlay import Overlay


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
