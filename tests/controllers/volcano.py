"""Volcano: its scheduler and its controllers, without its webhooks. `installed` adds its definitions."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import yaml

from tests.controllers.programs import Programs, answers
from tests.e2e.server import free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

PROGRAM = "volcano-scheduler"
GANG = "volcano"
"""Its name in the options of operators."""
NAMESPACE = "volcano-system"


def installed(cluster: Cluster, programs: Programs) -> None:
    cluster.add_namespaces([NAMESPACE])
    bodies = _shipped(programs)
    cluster.install(body for body in bodies if body["kind"] == "CustomResourceDefinition")


def _shipped(programs: Programs) -> list[Body]:
    """The objects of an installation."""
    text = (programs.manifests("volcano") / "volcano-development.yaml").read_bytes()
    return [body for body in yaml.load_all(text, yaml.CSafeLoader) if body]


@contextmanager
def started(cluster: Cluster, programs: Programs) -> Iterator[None]:
    """With the configuration that a release ships."""
    configurations = [body for body in _shipped(programs) if body["metadata"]["name"] == "volcano-scheduler-configmap"]
    settings = programs.work / "volcano-scheduler.conf"
    settings.write_text(configurations[0]["data"]["volcano-scheduler.conf"], "utf-8")
    with (
        _running(cluster, programs, "volcano-controller-manager"),
        _running(cluster, programs, PROGRAM, f"--scheduler-conf={settings}", "--schedule-period=500ms"),
    ):
        queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "research"}}
        cluster.apply({**queue, "spec": {"weight": 1}})
        yield


@contextmanager
def _running(cluster: Cluster, programs: Programs, name: str, *more: str) -> Iterator[None]:
    health, metrics = free_ports(2)
    arguments = (
        f"--kubeconfig={programs.kubeconfig(cluster)}",
        "--leader-elect=false",
        "--enable-healthz=true",
        f"--healthz-address=127.0.0.1:{health}",
        f"--listen-address=127.0.0.1:{metrics}",
        "--kube-api-qps=200",
        "--kube-api-burst=400",
        "--logtostderr",
        *more,
    )
    environment = {"DEBUG_SOCKET_DIR": str(programs.work / f"{name}-sockets")}
    with programs.started(name, arguments, lambda: answers(f"http://127.0.0.1:{health}/healthz"), environment):
        yield
