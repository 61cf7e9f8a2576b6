"""The node's own network. Pod Security's baseline forbids it, so a namespace must be allowed to."""

from __future__ import annotations

from typing import ClassVar

from gen.model.scalars import Truth
from gen.networks.base import Effect, NetworkProfile


class HostNetwork(NetworkProfile):
    """The network of the node that a pod runs on, without isolation and with the node's ports."""

    short: ClassVar[str] = "enabled"
    grant: ClassVar[str] = "hostNetwork"
    excludes: ClassVar[frozenset[str]] = frozenset({"terway"})

    enabled: Truth
    """Whether the pods use it."""

    def effect(self) -> Effect:
        return Effect(host_network=self.enabled, spread=self.enabled)
