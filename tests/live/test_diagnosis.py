"""`gen status JOB` as a diagnosis, against a real API server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from gen.live.diagnosis import remedy
from tests.cases import for_each
from tests.live.node import NODE, Node, node
from tests.live.world import RUNNING, World, unscheduled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.e2e.cluster import Cluster

    Make = Callable[[str], World]


@pytest.fixture
def kubelet(server: Cluster) -> Iterator[Node]:
    with node(server, server.client.authority) as made:
        yield made


def test_the_present_blocker_is_first_with_its_log_and_the_remedy(world: Make, kubelet: Node) -> None:
    here = world("diagnosis")
    run = here.job(more="workers: 3\ngpus: 8\n")
    name = run["metadata"]["name"]
    here.pod(run, "master", 0, RUNNING, nodeName=NODE)
    crashed = json.loads(json.dumps(RUNNING))
    crashed["containerStatuses"][0] |= {
        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}},
        "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled", "startedAt": "2026-01-01T00:00:00Z"}},
    }
    here.pod(run, "worker", 0, crashed, nodeName=NODE)
    kubelet.previous[f"{name}-worker-0", "main"] = [("2026-01-01T00:00:01.000000000Z", "CUDA out of memory")]
    text = here.gen("status", "diagnosis/demo")
    lines = text.splitlines()
    start = next(index for index, line in enumerate(lines) if "blocked by" in line)
    assert lines[start].startswith(f"{name} blocked by {name}-worker-0: CrashLoopBackOff: back-off 5m0s")
    assert "correct `command` or `image` of the job" in text
    assert f"last lines of {name}-worker-0:\n    CUDA out of memory\n" in text
    table = [line.split() for line in lines if line.startswith(("POD ", "worker-0 ", "master-0 "))]
    assert [row[0] for row in table] == ["POD", "worker-0", "master-0"], "the one in trouble is first"
    here.pod(run, "worker", 1, unscheduled("0/3 nodes are available: 3 Insufficient nvidia.com/gpu."))
    diagnosis = here.answer("diagnosis/demo")["runs"][0]["diagnosis"]
    assert [pod["title"] for pod in diagnosis["pods"]] == ["worker-0", "worker-1", "master-0"]
    assert here.answer()["runs"][0]["diagnosis"] is None, "a list of all runs has no pods"


@for_each(
    ("reason", "message", "expected"),
    [
        ("Unschedulable", "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.", "`gpus`"),
        ("Unschedulable", "0/3 nodes are available: 1 Insufficient cpu.", "`cpu`"),
        ("Unschedulable", "pod has unbound immediate PersistentVolumeClaims", "`volumes`"),
        ("Unschedulable", "1 node(s) had untolerated taint {a: b}", "`placement`"),
        ("Unschedulable", "2 node(s) didn't match Pod's node affinity/selector", "`accelerators`"),
        ("OOMKilled", "exit code 137", "`memory`"),
        ("ImagePullBackOff", "", "`imagePullSecrets`"),
        ("QuotaExceeded", "", "`namespaces`"),
        ("Unknown", "", ""),
    ],
)
def test_each_reason_has_a_remedy(reason: str, message: str, expected: str) -> None:
    found = remedy(reason, message)
    assert expected in found
    assert bool(found) is bool(expected)
