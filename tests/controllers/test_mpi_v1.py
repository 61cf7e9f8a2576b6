"""MPIJob of the training operator, in a cluster without the MPI operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.kubernetes.objects import Body
    from tests.controllers.workbench import Workbench
    from tests.e2e.cluster import Cluster

JOB = "kind: mpi\nimage: a:1\ncommand: mpirun x\nworkers: 2\n"


@pytest.fixture
def bench(cluster_v1: Cluster, workbench: Callable[..., Workbench]) -> Workbench:
    return workbench(cluster_v1, mpi="kubeflow.org/v1")


def by_role(pods: dict[str, Body]) -> tuple[Body, list[Body]]:
    (launcher,) = [pod for name, pod in pods.items() if name.endswith("-launcher")]
    return launcher, [pod for name, pod in pods.items() if "-worker-" in name]


def test_retries_are_restarts_of_all_pods(bench: Workbench) -> None:
    run = bench.job(JOB + "retries: 1\n")
    pods = bench.run_all(3)
    bench.reaches(run, "Running")
    for pod in pods.values():
        bench.kubelet.restart(pod, 1)
    bench.stays(run, "Failed")
    bench.kubelet.restart(by_role(pods)[0], 2)
    bench.reaches(run, "Failed")


def test_a_killed_worker_restarts_in_place(bench: Workbench) -> None:
    """The operator does not replace a worker that failed, so its container must not end the pod."""
    run = bench.job(JOB)
    pods = bench.run_all(3)
    _, workers = by_role(pods)
    assert {pod["spec"]["restartPolicy"] for pod in workers} == {"OnFailure"}
    bench.kubelet.restart(workers[0], 1)
    bench.stays(run, "Failed")
    bench.kubelet.fail(workers[0])
    bench.reaches(run, "Failed")


def test_templates_cause_no_warning(bench: Workbench) -> None:
    run = bench.job(JOB)
    bench.run_all(3)
    bench.reaches(run, "Running")
    # the operator does not see at once which pods it has created, and then tries again
    assert [one for one in bench.warnings(run) if not one.endswith("already exists")] == []
