"""kube-controller-manager with the controllers that act on rendered objects: none of nodes, accounts or clouds."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.controllers.programs import Controller, Programs, answers_over_tls
from tests.e2e.server import free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.cluster import Cluster

CONTROLLERS = (
    "job-controller",
    "deployment-controller",
    "replicaset-controller",
    "endpointslice-controller",
    "garbage-collector-controller",
    "namespace-controller",
    "persistentvolume-binder-controller",
    "persistentvolume-protection-controller",
    "persistentvolumeclaim-protection-controller",
    "ttl-after-finished-controller",
)


@contextmanager
def started(cluster: Cluster, programs: Programs) -> Iterator[Controller]:
    (port,) = free_ports(1)
    arguments = (
        f"--kubeconfig={programs.kubeconfig(cluster)}",
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={programs.work / 'kube-controller-manager-certs'}",
        f"--controllers={','.join(CONTROLLERS)}",
        # at 20 requests per second, 200 jobs would take a minute
        "--kube-api-qps=200",
        "--kube-api-burst=400",
    )
    with programs.started("kube-controller-manager", arguments, lambda: answers_over_tls(port)) as controller:
        yield controller
