"""The workflow-controller, outside of the cluster instead of in a pod."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.controllers.programs import Controller, Programs, answers, wait_for_port

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    wait_for_port(_HEALTH_PORT)
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
