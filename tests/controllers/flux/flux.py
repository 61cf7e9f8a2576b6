"""The source-controller and the kustomize-controller of Flux, outside of the cluster instead of in pods."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.controllers.programs import Programs, answers
from tests.e2e.server import free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.cluster import Cluster

NAMESPACE = "flux-system"
_NAMES = ("source-controller", "kustomize-controller")


@contextmanager
def started(cluster: Cluster, programs: Programs) -> Iterator[None]:
    for name in _NAMES:
        programs.path(name)
    for name in _NAMES:
        cluster.install(programs.definitions(name, "bases"))
    cluster.add_namespaces([NAMESPACE])
    # controllers of Flux find the server in the environment, and their namespace
    environment = {"KUBECONFIG": str(programs.kubeconfig(cluster)), "RUNTIME_NAMESPACE": NAMESPACE}
    with _started(programs, "source-controller", environment), _started(programs, "kustomize-controller", environment):
        yield


@contextmanager
def _started(programs: Programs, name: str, environment: dict[str, str]) -> Iterator[None]:
    metrics, health, storage = free_ports(3)
    artifacts = f"127.0.0.1:{storage}"
    arguments = [
        f"--metrics-addr=127.0.0.1:{metrics}",
        f"--health-addr=127.0.0.1:{health}",
        "--watch-all-namespaces",
        "--kube-api-qps=200",
        "--kube-api-burst=400",
        "--log-encoding=console",
    ]
    if name == "source-controller":
        folder = programs.work / f"artifacts-{storage}"
        folder.mkdir()
        arguments += [f"--storage-path={folder}", f"--storage-addr={artifacts}", f"--storage-adv-addr={artifacts}"]
    else:
        arguments += ["--requeue-dependency=1s", "--concurrent=20"]
    with programs.started(name, arguments, lambda: answers(f"http://127.0.0.1:{health}/readyz"), environment):
        yield
