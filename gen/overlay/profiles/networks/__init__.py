"""Registry of network profiles, one file each. See `docs/extending.md`."""

from __future__ import annotations

from typing import Final

from gen.base import LazyRegistry
from gen.overlay.profiles.networks.base import NetworkProfile

NETWORKS: Final[LazyRegistry[NetworkProfile]] = LazyRegistry(
    {
        "efa": "gen.overlay.profiles.networks.aws:Efa",
        "erdma": "gen.overlay.profiles.networks.alibaba:Erdma",
        "gkeRdma": "gen.overlay.profiles.networks.google:GkeRdma",
        "gkeTcpx": "gen.overlay.profiles.networks.google:GkeTcpx",
        "gkeTcpxo": "gen.overlay.profiles.networks.google:GkeTcpxo",
        "hostNetwork": "gen.overlay.profiles.networks.builtin:HostNetwork",
        "lingjun": "gen.overlay.profiles.networks.alibaba:Lingjun",
        "multus": "gen.overlay.profiles.networks.sriov:Multus",
        "rdma": "gen.overlay.profiles.networks.builtin:RDMA",
        "sriov": "gen.overlay.profiles.networks.sriov:Sriov",
        "terway": "gen.overlay.profiles.networks.alibaba:Terway",
        "tkeEni": "gen.overlay.profiles.networks.tencent:TkeEni",
    }
)

__all__ = ["NETWORKS", "NetworkProfile"]
