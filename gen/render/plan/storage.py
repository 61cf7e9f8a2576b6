"""A volume of the overlay as one namespace uses it: the same for every job of the namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.kinds.plan import StoragePlan
from gen.storage import Volume

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gen.overlay.overlay import Overlay


def volume_of(overlay: Overlay, namespace: str, name: str) -> Volume:
    """What profiles need to know of a volume that the overlay declares."""
    declared = overlay.fields.volumes[name]
    modes = declared.access_modes or (("ReadOnlyMany",) if declared.read_only else ("ReadWriteMany",))
    return Volume(
        name=name,
        namespace=namespace,
        size=declared.size or "",
        access_modes=modes,
        mount_options=declared.mount_options,
        read_only=declared.read_only,
    )


def plan_storage(overlay: Overlay, uses: Iterable[tuple[str, str]]) -> tuple[StoragePlan, ...]:
    """The storage behind pairs of a namespace and a volume, in order."""
    return tuple(
        StoragePlan(
            volume=volume_of(overlay, namespace, name),
            profile=overlay.fields.volumes[name].profile,
            place=overlay.place("volumes", name, key=True),
        )
        for namespace, name in sorted(set(uses))
    )
