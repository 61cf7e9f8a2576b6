"""Registry of network profiles, one file each. See `docs/extending.md`."""

from __future__ import annotations

from typing import Final

from gen.model.registry import LazyRegistry
from gen.networks.base import NetworkProfile

POD_NETWORK: Final = "pod"
"""The default network of a cluster, available without declaration."""

NETWORKS: Final[LazyRegistry[NetworkProfile]] = LazyRegistry(
    {
        "efa": "gen.networks.efa:Efa",
        "erdma": "gen.networks.erdma:Erdma",
        "gkeRdma": "gen.networks.gke_rdma:GkeRdma",
        "gkeTcpx": "gen.networks.gke_tcpx:GkeTcpx",
        "gkeTcpxo": "gen.networks.gke_tcpxo:GkeTcpxo",
        "hostNetwork": "gen.networks.host:HostNetwork",
        "lingjun": "gen.networks.lingjun:Lingjun",
        "multus": "gen.networks.multus:Multus",
        "rdma": "gen.networks.rdma:RDMA",
        "sriov": "gen.networks.sriov:Sriov",
        "terway": "gen.networks.terway:Terway",
        "tkeEni": "gen.networks.tke_eni:TkeEni",
    }
)

__all__ = ["NETWORKS", "POD_NETWORK", "NetworkProfile"]
