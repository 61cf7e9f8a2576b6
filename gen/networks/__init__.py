"""Registry of network profiles, one file each. See `docs/extending.md`."""

from __future__ import annotations

from typing import Final

from gen.networks.base import NetworkProfile
from gen.networks.host import HostNetwork
from gen.networks.rdma import RDMA
from gen.networks.terway import Terway

POD_NETWORK: Final = "pod"
"""The default network of a cluster, available without declaration."""

NETWORKS: Final[dict[str, type[NetworkProfile]]] = {
    "hostNetwork": HostNetwork,
    "rdma": RDMA,
    "terway": Terway,
}

__all__ = ["NETWORKS", "POD_NETWORK", "NetworkProfile"]
