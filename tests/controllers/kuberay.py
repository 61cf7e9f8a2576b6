"""KubeRay's operator, without webhooks, as it is installed by default."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.controllers.programs import Controller, Programs, answers
from tests.e2e.server import free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.cluster import Cluster


@contextmanager
def started(cluster: Cluster, programs: Programs) -> Iterator[Controller]:
    programs.path("kuberay")
    cluster.install(programs.definitions("kuberay", "bases"))
    health, metrics = free_ports(2)
    arguments = (
        f"--health-probe-bind-address=127.0.0.1:{health}",
        f"--metrics-addr=127.0.0.1:{metrics}",
        "--enable-leader-election=false",
    )
    environment = {"KUBECONFIG": str(programs.kubeconfig(cluster))}

    def ready() -> bool:
        return answers(f"http://127.0.0.1:{health}/readyz")

    with programs.started("kuberay", arguments, ready, environment) as controller:
        yield controller
