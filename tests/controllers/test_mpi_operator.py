"""The MPI operator: when it starts the launcher, and what it counts, replaces and ignores."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.controllers.waiting import give_time, wait
from tests.controllers.workbench import Workbench
from tests.controllers.workbench import pods as pods_of
from tests.e2e.server import running

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gen.kubernetes.objects import Body
    from tests.controllers.programs import Programs
    from tests.e2e.cluster import Cluster

pytestmark = pytest.mark.usefixtures("mpi_operator")

JOB = "kind: mpi\nimage: a:1\ncommand: mpirun x\nworkers: 2\n"


@pytest.fixture
def bench(cluster: Cluster, workbench: Callable[[Cluster], Workbench]) -> Workbench:
    return workbench(cluster)


def workers(bench: Workbench, count: int = 2) -> dict[str, Body]:
    return pods_of(bench.cluster, bench.namespace, count, "-worker-")


def launcher(bench: Workbench) -> Body:
    (pod,) = pods_of(bench.cluster, bench.namespace, 1, "-launcher-").values()
    return pod


def started(bench: Workbench, run: Body) -> Body:
    bench.kubelet.run(*workers(bench).values())
    pod = launcher(bench)
    bench.kubelet.run(pod)
    bench.reaches(run, "Running")
    return pod


def test_the_launcher_starts_after_its_workers(bench: Workbench) -> None:
    run = bench.job(JOB)
    found = list(workers(bench).values())
    give_time()
    bench.kubelet.run(found[0])
    give_time()
    bench.pods(2)
    bench.kubelet.run(found[1])
    bench.kubelet.run(launcher(bench))
    bench.reaches(run, "Running")


def test_the_launcher_of_a_resumed_job_waits_for_the_names_of_its_workers(bench: Workbench) -> None:
    """The operator does not apply the policy to a suspended job: here the launcher starts with its workers."""
    bench.job(JOB + "state: suspended\n")
    job = f"/apis/batch/v1/namespaces/{bench.namespace}/jobs"
    wait(lambda: bench.cluster.client.get(job).body["items"], "suspended Job of the launcher")
    bench.job(JOB)
    pod = launcher(bench)
    assert {worker["status"]["phase"] for worker in workers(bench).values()} == {"Pending"}
    (init,) = pod["spec"]["initContainers"]
    names = {f"{worker['spec']['hostname']}.{worker['spec']['subdomain']}" for worker in workers(bench).values()}
    pattern, count = init["command"][-2:]
    assert {pattern % index for index in range(int(count))} == names


@pytest.mark.parametrize(("retries", "survived"), [("retries: 0\n", 0), ("retries: 1\n", 1), ("", 5)])
def test_retries_are_restarts_of_the_launcher(bench: Workbench, retries: str, survived: int) -> None:
    run = bench.job(JOB + retries)
    pod = started(bench, run)
    bench.kubelet.restart(pod, survived)
    bench.stays(run, "Failed")
    bench.kubelet.restart(pod, survived + 1)
    bench.reaches(run, "Failed")


def test_retries_without_restarts_are_pods_of_the_launcher(bench: Workbench) -> None:
    run = bench.job(JOB + "retries: 1\nrestart: Never\n")
    first = started(bench, run)
    bench.kubelet.fail(first)
    bench.stays(run, "Failed")
    second = wait(
        lambda: next((pod for pod in launchers(bench) if pod["metadata"]["uid"] != first["metadata"]["uid"]), None),
        "second launcher",
    )
    bench.kubelet.fail(second)
    bench.reaches(run, "Failed")


def launchers(bench: Workbench) -> list[Body]:
    return [pod for pod in bench.cluster.live("", "Pod", bench.namespace) if "-launcher-" in pod["metadata"]["name"]]


def test_workers_restart_in_place_and_are_created_again_when_deleted(bench: Workbench) -> None:
    run = bench.job(JOB)
    started(bench, run)
    found = workers(bench)
    assert {pod["spec"]["restartPolicy"] for pod in found.values()} == {"OnFailure"}
    first = next(iter(found.values()))
    bench.cluster.client.delete(bench.cluster.path({"apiVersion": "v1", "kind": "Pod", **first}))
    bench.replaced({first["metadata"]["name"]: first})
    bench.stays(run, "Failed")


def test_an_evicted_worker_fails_the_job(bench: Workbench) -> None:
    run = bench.job(JOB)
    started(bench, run)
    pod = next(iter(workers(bench).values()))
    bench.kubelet.fail(pod)
    bench.stays(run, "Failed")
    bench.kubelet.evict(pod)
    bench.reaches(run, "Failed")


def test_templates_cause_no_warning(bench: Workbench) -> None:
    run = bench.job(JOB)
    started(bench, run)
    assert bench.warnings(run) == []


def test_the_training_operator_exits_without_its_own_version_of_mpijob(
    cluster: Cluster, controllers: Programs, training_operator: object, tmp_path: Path
) -> None:
    """Therefore it needs `--enable-scheme` next to the MPI operator; `training_operator` has it."""
    del training_operator
    program = str(controllers.path("training-operator"))
    arguments = ["--metrics-bind-address=0", "--health-probe-bind-address=0", "--webhook-server-port=0"]
    environment = {"KUBECONFIG": str(controllers.kubeconfig(cluster))}
    with running([program, *arguments], tmp_path / "log", environment) as process:
        try:
            assert process.wait(180) != 0
        except subprocess.TimeoutExpired:
            pytest.fail((tmp_path / "log").read_text())
