"""Scratch space that lives and dies with a pod."""

from __future__ import annotations

from typing import ClassVar, Literal

from gen.kubernetes import Body, present
from gen.model.scalars import Bytes
from gen.storage.base import StorageProfile, Volume


class EmptyDir(StorageProfile):
    """An empty directory for each pod, gone when the pod is."""

    outlives_pods: ClassVar[bool] = False

    size_limit: Bytes | None = None
    """How much it may hold before the pod is evicted."""
    medium: Literal["Memory"] | None = None
    """`Memory` keeps it in RAM, where it counts against the container's memory."""

    def pod_source(self, volume: Volume) -> Body:  # noqa: ARG002 - an empty directory has no name outside the pod
        return {"emptyDir": present(medium=self.medium, sizeLimit=self.size_limit)}
