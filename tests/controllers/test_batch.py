"""The Job controller: which failures it counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.controllers.workbench import Workbench
    from tests.e2e.cluster import Cluster

pytestmark = pytest.mark.usefixtures("controller_manager")

JOB = "kind: batch\nimage: a:1\ncommand: x\nworkers: 3\n"


@pytest.fixture
def bench(cluster: Cluster, workbench: Callable[[Cluster], Workbench]) -> Workbench:
    return workbench(cluster)


def test_retries_are_failures_of_all_pods(bench: Workbench) -> None:
    run = bench.job(JOB + "retries: 1\n")
    pods = bench.run_all(3)
    bench.kubelet.fail(*pods.values())
    again = bench.replacements(pods, 3)
    assert "Failed" not in bench.conditions(run)
    bench.kubelet.run(*again)
    bench.kubelet.fail(again[0])
    bench.reaches(run, "Failed")


def test_retries_in_place_are_restarts_of_all_containers(bench: Workbench) -> None:
    run = bench.job(JOB + "retries: 1\nrestart: OnFailure\n")
    pods = bench.run_all(3)
    for pod in pods.values():
        bench.kubelet.restart(pod, 1)
    bench.stays(run, "Failed")
    bench.kubelet.restart(next(iter(pods.values())), 2)
    bench.reaches(run, "Failed")


@pytest.mark.parametrize("retries", ["", "retries: 1\n"])
def test_a_drained_node_takes_other_pods_with_it(bench: Workbench, retries: str) -> None:
    """The pod of the node is not counted, but its peers, which lose it, are."""
    run = bench.job(JOB + retries)
    first, second, third = bench.run_all(3).values()
    bench.kubelet.disrupt(first)
    bench.stays(run, "Failed")
    bench.kubelet.fail(second, third)
    if retries:
        bench.stays(run, "Failed")
    else:
        bench.reaches(run, "Failed")
