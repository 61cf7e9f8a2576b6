"""Host network. The baseline Pod Security Standard forbids it, so a namespace needs a grant."""

from __future__ import annotations

from typing import ClassVar

from gen.model.effect import Effect
from gen.model.scalars import Truth
from gen.networks.base import NetworkProfile


class HostNetwork(NetworkProfile):
    """Host network of the node: no isolation, ports shared with the node."""

    short: ClassVar[str] = "enabled"
    grant: ClassVar[str] = "hostNetwork"

    enabled: Truth
    """Use the host network."""

    def effect(self, gpus: int) -> Effect:  # noqa: ARG002 - the same for every pod
        return Effect(host_network=self.enabled, spread=self.enabled)
