"""Scratch space with the lifetime of a pod."""

from __future__ import annotations

from typing import ClassVar, Literal

from gen.kubernetes import Body, present
from gen.model.scalars import Bytes
from gen.storage.base import StorageProfile, Volume


class EmptyDir(StorageProfile):
    """Empty directory per pod, deleted with the pod."""

    outlives_pods: ClassVar[bool] = False

    size_limit: Bytes | None = None
    """Size limit. A pod that exceeds it is evicted."""
    medium: Literal["Memory"] | None = None
    """`Memory` stores it in RAM, where it counts against the memory of the container."""

    def pod_source(self, volume: Volume) -> Body:  # noqa: ARG002 - an empty directory has no name outside the pod
        return {"emptyDir": present(medium=self.medium, sizeLimit=self.size_limit)}
