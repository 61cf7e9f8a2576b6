"""Queues with gangs under real schedulers: the pods of a run are bound to nodes together, or none is."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.controllers import controller_manager, jobset, mpi_operator, scheduler_plugins, training_operator, volcano
from tests.controllers.nodes import POOL, add_node
from tests.controllers.waiting import give_time, wait

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from gen.kubernetes.objects import Body
    from tests.controllers.programs import Programs
    from tests.controllers.workbench import Workbench
    from tests.e2e.cluster import Cluster

    Discovery = Callable[..., AbstractContextManager[Cluster]]

OVERLAY = """\
kubernetes: "1.34"
accelerators: {{h100: {{nvidia: {{}}, perNode: 8}}}}
priorities:
  patient: {{className: patient, preemptionPolicy: Never}}
  mistaken: {{className: patient, preemptionPolicy: PreemptLowerPriority}}
queues:
  gold: {{{scheduler}: {settings}}}
  loose: {{{scheduler}: {loose}}}
namespaces:
  "*": {{queues: [gold, loose], nodeLabels: ["*"], priorities: [patient, mistaken]}}
"""
SETTINGS = {
    "volcano": ("{queue: research}", "{queue: research, minAvailable: 2}"),
    "coscheduling": ("{}", "{minAvailable: 2}"),
}
JOB = """\
kind: {kind}
image: registry.example.com/train:1
command: python train.py
workers: 3
gpus: 8
cpu: 8
memory: 64Gi
queue: gold
placement: {{nodeSelector: {{{pool}: {namespace}}}}}
"""
SCHEDULERS = {"volcano": volcano, "coscheduling": scheduler_plugins}
"""By the field of a queue."""
WITHOUT = ("ServiceAccount", "RuntimeClass")
"""Plugins of admission that need other objects. That of priorities runs."""
KINDS = ("batch", "jobset", "pytorch", "tensorflow", "xgboost", "jax")


@dataclass(frozen=True)
class Gangs:
    """A cluster with a scheduler that starts groups of pods."""

    cluster: Cluster
    scheduler: str

    def bench(self, workbench: Callable[[Cluster], Workbench], nodes: int) -> Workbench:
        """A namespace with nodes of its own."""
        bench = workbench(self.cluster)
        settings, loose = SETTINGS[self.scheduler]
        bench.repository.overlay(OVERLAY.format(scheduler=self.scheduler, settings=settings, loose=loose))
        for number in range(nodes):
            add_node(self.cluster, f"{bench.namespace}-{number}", bench.namespace)
        return bench


def job(bench: Workbench, kind: str) -> str:
    return JOB.format(kind=kind, pool=POOL, namespace=bench.namespace)


def bound(bench: Workbench) -> list[str]:
    """Nodes of the pods that have one."""
    pods = bench.cluster.live("", "Pod", bench.namespace)
    return sorted(pod["spec"]["nodeName"] for pod in pods if pod["spec"].get("nodeName"))


def are_bound(bench: Workbench, count: int) -> None:
    wait(lambda: len(bound(bench)) == count, f"{count} pods on nodes")
    give_time()
    assert len(bound(bench)) == count


@pytest.fixture(scope="module", params=["volcano", "coscheduling"])
def gangs(
    request: pytest.FixtureRequest,
    served: Callable[..., AbstractContextManager[Cluster]],
    controllers: Programs,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Gangs]:
    """One after the other: the port of the MPI operator is fixed."""
    scheduler: ModuleType = SCHEDULERS[request.param]
    controllers.path(scheduler.PROGRAM)
    with ExitStack() as running:
        cluster = running.enter_context(served(tmp_path_factory.mktemp(request.param), without=WITHOUT))
        scheduler.installed(cluster, controllers)
        running.enter_context(controller_manager.started(cluster, controllers))
        running.enter_context(training_operator.started(cluster, controllers, mpi=False, gang=scheduler.GANG))
        if (controllers.folder / "jobset").exists():
            running.enter_context(jobset.started(cluster, controllers))
        mpi_operator.install(cluster, controllers)
        running.enter_context(mpi_operator.started(cluster, controllers, gang=scheduler.GANG))
        running.enter_context(scheduler.started(cluster, controllers))
        patient = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "patient"}}
        cluster.apply({**patient, "value": 1000, "preemptionPolicy": "Never"})
        yield Gangs(cluster, request.param)


@pytest.mark.parametrize("kind", KINDS)
def test_the_pods_of_a_run_start_together_or_not_at_all(
    gangs: Gangs, kind: str, controllers: Programs, workbench: Callable[[Cluster], Workbench]
) -> None:
    if kind == "jobset":
        controllers.path(kind)
    bench = gangs.bench(workbench, nodes=2)
    bench.job(job(bench, kind))
    bench.pods(3)
    give_time()
    assert bound(bench) == [], "two of three pods would fit"
    add_node(gangs.cluster, f"{bench.namespace}-2", bench.namespace)
    are_bound(bench, 3)


def test_the_launcher_of_an_mpi_job_is_in_the_gang(gangs: Gangs, workbench: Callable[[Cluster], Workbench]) -> None:
    bench = gangs.bench(workbench, nodes=2)
    bench.job(job(bench, "mpi") + "roles: {launcher: {cpu: 1, memory: 1Gi}}\n")
    bench.pods(4)
    give_time()
    assert bound(bench) == []
    add_node(gangs.cluster, f"{bench.namespace}-2", bench.namespace)
    are_bound(bench, 4)


@pytest.mark.parametrize("gangs", ["volcano"], indirect=True)
def test_a_volcano_job_is_a_gang(gangs: Gangs, workbench: Callable[[Cluster], Workbench]) -> None:
    """Volcano makes its pods when the group fits."""
    bench = gangs.bench(workbench, nodes=2)
    bench.job(job(bench, "volcano"))
    give_time()
    assert bound(bench) == []
    add_node(gangs.cluster, f"{bench.namespace}-2", bench.namespace)
    are_bound(bench, 3)


@pytest.mark.parametrize("kind", ["batch", "pytorch"])
def test_a_smaller_group_starts_with_fewer_nodes(
    gangs: Gangs, kind: str, workbench: Callable[[Cluster], Workbench]
) -> None:
    bench = gangs.bench(workbench, nodes=2)
    bench.job(job(bench, kind).replace("gold", "loose"))
    bench.pods(3)
    are_bound(bench, 2)


def test_two_runs_do_not_hold_half_of_the_nodes_each(gangs: Gangs, workbench: Callable[[Cluster], Workbench]) -> None:
    bench = gangs.bench(workbench, nodes=4)
    for name in ("first", "second"):
        bench.job(job(bench, "pytorch"), name)
    bench.pods(6)
    are_bound(bench, 3)
    pods = bench.cluster.live("", "Pod", bench.namespace)
    runs = {pod["metadata"]["name"].split("-")[0] for pod in pods if pod["spec"].get("nodeName")}
    assert len(runs) == 1


def test_pods_have_the_policy_of_their_class(gangs: Gangs, workbench: Callable[[Cluster], Workbench]) -> None:
    bench = gangs.bench(workbench, nodes=3)
    bench.job(job(bench, "pytorch") + "priority: patient\n")
    pods: list[Body] = list(bench.pods(3).values())
    assert {(pod["spec"]["priority"], pod["spec"]["preemptionPolicy"]) for pod in pods} == {(1000, "Never")}
    are_bound(bench, 3)


def test_a_policy_that_its_class_does_not_have_is_rejected(
    gangs: Gangs, workbench: Callable[[Cluster], Workbench]
) -> None:
    bench = gangs.bench(workbench, nodes=3)
    run = bench.job(job(bench, "batch") + "priority: mistaken\n")
    wait(lambda: bench.cluster.live("", "Event", bench.namespace), "event of the run")
    wait(lambda: [one for one in bench.warnings(run) if "PreemptionPolicy" in one], "warning about the policy")
    bench.pods(0)
