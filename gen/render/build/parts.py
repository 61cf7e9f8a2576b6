"""Parts of pods that training pods, init containers and TensorBoard share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.kubernetes import Body, present

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gen.kinds.mounts import MountPlan, VolumePlan


def resources(amounts: Mapping[str, str]) -> Body:
    """Requests equal to limits: extended resources require it, and such pods are evicted last."""
    return {"limits": dict(amounts), "requests": dict(amounts)} if amounts else {}


def pod_volumes(volumes: Sequence[VolumePlan]) -> list[Body]:
    return [{"name": volume.name, **volume.source} for volume in volumes]


def volume_mounts(mounts: Sequence[MountPlan]) -> list[Body]:
    return [
        present(name=mount.volume, mountPath=mount.path, subPath=mount.sub_path, readOnly=mount.read_only or None)
        for mount in mounts
    ]
