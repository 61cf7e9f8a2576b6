"""The workflow-controller, beside the server instead of in a pod."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.controllers.programs import START_S, answers
from tests.controllers.waiting import wait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.controllers.programs import Controller, Programs
    from tests.e2e.cluster import Cluster

NAMESPACE = "argo"
_HEALTH_PORT = 6060
"""`cmd/workflow-controller/main.go` has no flag for it."""
_CONFIGURATION = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "workflow-controller-configmap", "namespace": NAMESPACE},
    "data": {
        "metricsConfig": "enabled: false\n",
        # by default it looks at an object every five seconds
        "executor": "env: [{name: RESOURCE_STATE_CHECK_INTERVAL, value: 1s}]\n",
    },
}


@contextmanager
def started(cluster: Cluster, programs: Programs) -> Iterator[Controller]:
    for name in ("workflow-controller", "argoexec"):
        programs.path(name)
    # another test run on the same machine may have it
    wait(lambda: _is_free(_HEALTH_PORT), f"free port {_HEALTH_PORT}", START_S)
    cluster.install(programs.definitions("workflow-controller", "full"))
    cluster.add_namespaces([NAMESPACE])
    cluster.apply(_CONFIGURATION)
    arguments = (
        f"--kubeconfig={programs.kubeconfig(cluster)}",
        f"--namespace={NAMESPACE}",
        "--executor-image=argoexec",
        "--qps=200",
        "--burst=400",
    )
    environment = {"LEADER_ELECTION_DISABLE": "true", "CRON_SYNC_PERIOD": "1s", "DEFAULT_REQUEUE_TIME": "1s"}
    healthy = f"http://127.0.0.1:{_HEALTH_PORT}/healthz"
    with programs.started("workflow-controller", arguments, lambda: answers(healthy), environment) as controller:
        yield controller


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0
