"""A scheduler of Kubernetes with the plugin coscheduling, as the documentation of scheduler-plugins configures it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import yaml

from gen.kubernetes.facts.scheduling import SCHEDULER
from tests.controllers.programs import Programs, answers_over_tls
from tests.e2e.server import free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.cluster import Cluster

PROGRAM = "scheduler-plugins"
GANG = SCHEDULER
"""Its name in the options of operators."""


def installed(cluster: Cluster, programs: Programs) -> None:
    cluster.install(programs.definitions(PROGRAM, "bases"))


@contextmanager
def started(cluster: Cluster, programs: Programs) -> Iterator[None]:
    (port,) = free_ports(1)
    plugins = {
        "multiPoint": {"enabled": [{"name": "Coscheduling"}]},
        "queueSort": {"enabled": [{"name": "Coscheduling"}], "disabled": [{"name": "*"}]},
    }
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"kubeconfig": str(programs.kubeconfig(cluster)), "qps": 200, "burst": 400},
        # by default, a group waits ten minutes between attempts that grow
        "podInitialBackoffSeconds": 1,
        "podMaxBackoffSeconds": 2,
        "profiles": [{"schedulerName": SCHEDULER, "plugins": plugins}],
    }
    file = programs.work / f"scheduler-{port}.yaml"
    file.write_text(yaml.safe_dump(configuration), "utf-8")
    arguments = (
        f"--config={file}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={programs.work / f'scheduler-{port}-certs'}",
        # the server issues no configuration of authentication
        "--authentication-skip-lookup=true",
    )
    with programs.started(PROGRAM, arguments, lambda: answers_over_tls(port)):
        yield
