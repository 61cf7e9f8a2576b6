"""The training operator: counts, replacements and ignored fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.controllers.waiting import give_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.kubernetes.objects import Body
    from tests.controllers.workbench import Workbench
    from tests.e2e.cluster import Cluster

pytestmark = pytest.mark.usefixtures("training_operator")

PYTORCH = "kind: pytorch\nimage: a:1\ncommand: x\nworkers: 3\n"
TENSORFLOW = "kind: tensorflow\nimage: a:1\ncommand: x\nworkers: 1\nroles: {master: {}, ps: {}}\n"


@pytest.fixture
def bench(cluster: Cluster, workbench: Callable[[Cluster], Workbench]) -> Workbench:
    return workbench(cluster)


@pytest.mark.parametrize("job", [PYTORCH, TENSORFLOW], ids=["pytorch", "tensorflow"])
def test_retries_are_restarts_of_all_pods(bench: Workbench, job: str) -> None:
    run = bench.job(job + "retries: 1\n")
    pods = bench.run_all(3)
    bench.reaches(run, "Running")
    for pod in pods.values():
        bench.kubelet.restart(pod, 1)
    bench.stays(run, "Failed")
    bench.kubelet.restart(next(iter(pods.values())), 2)
    bench.reaches(run, "Failed")


def test_the_first_restart_fails_a_job_without_retries(bench: Workbench) -> None:
    run = bench.job(PYTORCH + "retries: 0\n")
    pods = bench.run_all(3)
    bench.stays(run, "Failed")
    bench.kubelet.restart(next(iter(pods.values())), 1)
    bench.reaches(run, "Failed")


def test_restarts_of_init_containers_count(bench: Workbench) -> None:
    run = bench.job(PYTORCH + "retries: 0\ncode: {git: https://git.example.com/a.git}\n")
    pods = bench.run_all(3)
    bench.stays(run, "Failed")
    bench.kubelet.run(next(iter(pods.values())), init_restarts=1)
    bench.reaches(run, "Failed")


def test_exit_codes_are_not_counted(bench: Workbench) -> None:
    """Therefore gen rejects `retries` with `restart: ExitCode`."""
    run = bench.job(PYTORCH + "restart: ExitCode\n")
    bench.edit(run, {"spec": {"runPolicy": {"backoffLimit": 1}}})
    for _ in range(3):
        pods = bench.run_all(3)
        bench.kubelet.fail(*pods.values(), exit_code=137)
        bench.replaced(pods)
    assert "Failed" not in bench.conditions(run)


def test_a_pod_of_a_drained_node_is_replaced(bench: Workbench) -> None:
    run = bench.job(PYTORCH + "retries: 1\n")
    pods = bench.run_all(3)
    bench.kubelet.disrupt(next(iter(pods.values())))
    bench.replaced(dict(list(pods.items())[:1]))
    bench.stays(run, "Failed")


def test_templates_cause_no_warning(bench: Workbench) -> None:
    run = bench.job(PYTORCH)
    bench.run_all(3)
    bench.reaches(run, "Running")
    assert bench.warnings(run) == []


def test_the_deadline_counts_pending_time_and_needs_an_event(bench: Workbench) -> None:
    run = bench.job(PYTORCH + "timeout: 2s\n")
    pods = bench.pods(3)
    bench.stays(run, "Failed")
    bench.kubelet.run(next(iter(pods.values())))
    assert "deadline" in bench.reaches(run, "Failed")["message"]


def test_suspend_and_resume(bench: Workbench) -> None:
    run = bench.job(PYTORCH)
    bench.run_all(3)
    assert bench.job(PYTORCH + "state: suspended\n")["metadata"]["name"] == run["metadata"]["name"]
    bench.pods(0)
    bench.reaches(run, "Suspended")
    bench.job(PYTORCH)
    bench.run_all(3)
    bench.reaches(run, "Running")


def test_an_edit_in_place_leaves_old_pods_and_makes_new_ones(bench: Workbench) -> None:
    bench.repository.overlay((bench.repository.root / "overlays/dev/overlay.yaml").read_text() + STABLE)
    run = bench.job(PYTORCH)
    pods = bench.run_all(3)
    edited = bench.job(PYTORCH.replace("a:1", "a:2"))
    assert edited["metadata"]["name"] == run["metadata"]["name"]
    give_time()
    assert images(bench.pods(3)) == {"a:1"}
    failed = dict(list(pods.items())[:1])
    bench.kubelet.disrupt(*failed.values())
    bench.replaced(failed)
    assert images(bench.pods(3)) == {"a:1", "a:2"}


STABLE = "runs: {naming: stable}\n"


def images(pods: dict[str, Body]) -> set[str]:
    return {pod["spec"]["containers"][0]["image"] for pod in pods.values()}
