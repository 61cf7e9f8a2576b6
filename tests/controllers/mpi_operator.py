"""The MPI operator."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.controllers.programs import Controller, Programs, answers, wait_for_port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.cluster import Cluster

NAMESPACE = "mpi-operator"
_HEALTH_PORT = 8080
"""`cmd/mpi-operator/app/server.go` has no flag for it."""


def install(cluster: Cluster, programs: Programs) -> None:
    """Install its definition, and the namespace for the lease of its leader election, which cannot be switched off."""
    cluster.install(programs.definitions("mpi-operator"))
    cluster.add_namespaces([NAMESPACE])


@contextmanager
def started(cluster: Cluster, programs: Programs, *, gang: str = "") -> Iterator[Controller]:
    """`gang` is the scheduler of its groups of pods."""
    wait_for_port(_HEALTH_PORT)
    arguments = (
        f"--kubeConfig={programs.kubeconfig(cluster)}",
        f"--lock-namespace={NAMESPACE}",
        "--kube-api-qps=200",
        "--kube-api-burst=400",
        "-alsologtostderr",
        *([f"--gang-scheduling={gang}"] if gang else ()),
    )
    with programs.started("mpi-operator", arguments, lambda: _leads(cluster)) as controller:
        yield controller


def _leads(cluster: Cluster) -> bool:
    lease = cluster.client.get(f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/mpi-operator")
    return lease.status == 200 and answers(f"http://127.0.0.1:{_HEALTH_PORT}/healthz")
