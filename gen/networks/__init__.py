"""Registry of network profiles, one file each. See `docs/extending.md`."""

from __future__ import annotations

from typing import Final

from gen.networks.base import NetworkProfile
from gen.networks.efa import Efa
from gen.networks.erdma import Erdma
from gen.networks.gke_rdma import GkeRdma
from gen.networks.gke_tcpx import GkeTcpx
from gen.networks.gke_tcpxo import GkeTcpxo
from gen.networks.host import HostNetwork
from gen.networks.lingjun import Lingjun
from gen.networks.multus import Multus
from gen.networks.rdma import RDMA
from gen.networks.sriov import Sriov
from gen.networks.terway import Terway
from gen.networks.tke_eni import TkeEni

POD_NETWORK: Final = "pod"
"""The default network of a cluster, available without declaration."""

NETWORKS: Final[dict[str, type[NetworkProfile]]] = {
    "efa": Efa,
    "erdma": Erdma,
    "gkeRdma": GkeRdma,
    "gkeTcpx": GkeTcpx,
    "gkeTcpxo": GkeTcpxo,
    "hostNetwork": HostNetwork,
    "lingjun": Lingjun,
    "multus": Multus,
    "rdma": RDMA,
    "sriov": Sriov,
    "terway": Terway,
    "tkeEni": TkeEni,
}

__all__ = ["NETWORKS", "POD_NETWORK", "NetworkProfile"]
