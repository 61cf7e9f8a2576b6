"""The place of a run in its queue, from an API of Kueue."""

from __future__ import annotations

from typing import Any

import pytest

from gen.base.codes.clusters import CLUSTER_FORBIDDEN
from gen.live.client import Api, ClusterError, NotFoundError
from gen.live.diagnosis import read_waiting
from gen.live.snapshot import Snapshot

JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"uid": "1", "name": "demo", "namespace": "team", "labels": {"kueue.x-k8s.io/queue-name": "research"}},
    "spec": {"suspend": True},
}
GROUPS = [
    {
        "name": name,
        "preferredVersion": {"groupVersion": f"{name}/v1beta1"},
        "versions": [{"groupVersion": f"{name}/v1beta1"}],
    }
    for name in ("kueue.x-k8s.io", "visibility.kueue.x-k8s.io")
]
WORKLOAD = {"metadata": {"name": "job-demo", "ownerReferences": [{"uid": "1", "controller": True}]}}
PENDING = "/apis/visibility.kueue.x-k8s.io/v1beta1/namespaces/team/localqueues/research/pendingworkloads"
ANSWERS: dict[str, Any] = {
    "/apis": {"groups": GROUPS},
    "/apis/kueue.x-k8s.io/v1beta1/namespaces/team/workloads": {"items": [WORKLOAD]},
    PENDING: {"items": [{"metadata": {"name": "job-demo"}, "positionInLocalQueue": 2}]},
}


class Answering(Api):
    """A cluster with prepared answers, because the API of Kueue is an aggregated one."""

    def __init__(self, **errors: Exception) -> None:
        super().__init__("test", None, 1)
        self.errors = errors

    def get(self, path: str, query: Any = None, read: Any = None) -> dict[str, Any]:
        name = path.rpartition("/")[2]
        if name in self.errors:
            raise self.errors[name]
        found: dict[str, Any] = ANSWERS[path]
        return found


def test_the_place_counts_from_one() -> None:
    waiting = read_waiting(Answering(), Snapshot(runs={"1": JOB}))
    assert (waiting["1"].position, waiting["1"].reason) == (3, "Pending")


@pytest.mark.parametrize("error", [NotFoundError("no"), ClusterError(CLUSTER_FORBIDDEN, "no", "")])
def test_a_cluster_without_this_api(error: Exception) -> None:
    snapshot = Snapshot(runs={"1": JOB})
    assert read_waiting(Answering(pendingworkloads=error), snapshot)["1"].position is None
    assert snapshot.problems == []


def test_workloads_that_may_not_be_read() -> None:
    snapshot = Snapshot(runs={"1": JOB})
    assert read_waiting(Answering(workloads=ClusterError(CLUSTER_FORBIDDEN, "no", "")), snapshot) == {}
    assert [problem.error.code for problem in snapshot.problems] == [CLUSTER_FORBIDDEN]


def test_runs_in_namespaces_of_the_repository_are_asked_for_first() -> None:
    asked: list[str] = []

    class Noting(Api):
        def get(self, path: str, query: Any = None, read: Any = None) -> dict[str, Any]:
            asked.append(path)
            return {"items": []}

    def stuck(number: int, namespace: str) -> dict[str, Any]:
        metadata = {"uid": str(number), "name": f"job-{number}", "namespace": namespace}
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {}}

    runs = {str(number): stuck(number, "other") for number in range(100)} | {"100": stuck(100, "team")}
    read_waiting(Noting("test", None, 1), Snapshot(runs=runs), {"team"})
    assert asked[0] == "/api/v1/namespaces/team/events"
    assert len(asked) < 100
