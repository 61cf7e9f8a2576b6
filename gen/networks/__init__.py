"""Network profiles: one file each, and the one list of them. See `docs/extending.md`."""

from __future__ import annotations

from typing import Final

from gen.networks.base import Effect, NetworkProfile, combined
from gen.networks.host import HostNetwork
from gen.networks.rdma import RDMA
from gen.networks.terway import Terway

POD_NETWORK: Final = "pod"
"""The network that every cluster has and no overlay declares."""

NETWORKS: Final[dict[str, type[NetworkProfile]]] = {
    "hostNetwork": HostNetwork,
    "rdma": RDMA,
    "terway": Terway,
}

__all__ = ["NETWORKS", "POD_NETWORK", "Effect", "NetworkProfile", "combined"]
