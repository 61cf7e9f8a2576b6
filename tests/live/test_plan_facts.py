"""`gen plan --live` against a real API server: runs of known age, logs with metrics, nodes, queues and claims."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from gen.live.client import Api
from tests.history import History
from tests.live.node import NODE, Node, node
from tests.live.test_top import gpu_pod, nodes
from tests.live.world import OVERLAY, RUNNING, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

    Make = Callable[[str], World]

H100 = "accelerators: {h100: {nvidia: NVIDIA-H100-80GB-HBM3, price: 2.5}}\ncurrency: EUR\n"
EDITED = "kind: pytorch\nimage: registry.example.com/train:2\ncommand: python train.py --lr 1\n"
MORE = "gpus: 8\naccelerator: h100\nmetrics: [loss]\n"


@pytest.fixture
def kubelet(server: Cluster) -> Iterator[Node]:
    with node(server, server.client.authority) as made:
        yield made


def committed(here: World) -> History:
    """The repository of a world in Git, with its present state as the base of a pull request."""
    history = History(here.repository.root)
    history.git("init", "--quiet", "--initial-branch=main")
    history.commit("base")
    history.git("switch", "--quiet", "--create", "topic")
    return history


def trains(here: World, run: Body, hours: int) -> str:
    """A pod of the run that has trained for some hours. Its name."""
    begun = (datetime.now(UTC) - timedelta(hours=hours, minutes=5)).strftime("%Y-%m-%dT%H:%M:%SZ")
    status = json.loads(json.dumps(RUNNING))
    status["containerStatuses"][0]["state"]["running"]["startedAt"] = begun
    return str(here.pod(run, "master", 0, status, nodeName=NODE)["metadata"]["name"])


def plan(here: World, *arguments: str, context: str = "") -> dict[str, Any]:
    document: dict[str, Any] = json.loads(
        here.gen("plan", "--live", "--output", "json", "--base", "main", *arguments, context=context)
    )
    return document


def test_the_training_that_a_merge_destroys_and_the_room_for_what_starts(world: Make, kubelet: Node) -> None:
    here = world("merge")
    here.repository.overlay(OVERLAY.format(namespace="merge") + H100)
    run = here.job("yolo", more=MORE)
    other = here.job("other")
    history = committed(here)
    pod = trains(here, run, 31)
    kubelet.log(pod, (1, "loss=0.9"), (2, "saved checkpoint /data/step-1200"), (3, "loss=0.31"))
    here.repository.job(f"{EDITED}workers: 3\nqueue: research\ndata: {{data: /data}}\n{MORE}", "yolo", "merge")
    history.rendering()
    waits = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": "w", "namespace": "merge"},
    }
    here.cluster.apply({**waits, "spec": {"queueName": "research"}})
    with nodes(here, m1=8, m2=8):
        gpu_pod(here, other, 5, "m2", 4)
        found = plan(here)
        text = here.gen("plan", "--live", "--base", "main")
    assert "1 run stops after up to 31 hours (1 replaced)" in found["headline"]
    assert "its run of 31 hours is stopped" in found["changes"][0]["sentence"]
    live = found["live"]
    (life,) = live["runs"]
    assert 31 * 3600 <= life["seconds"] < 32 * 3600
    assert (life["metrics"], life["checkpoint"]) == ({"loss": "0.31"}, "saved checkpoint /data/step-1200")
    (room,) = live["devices"]
    assert (room["accelerator"], room["asked"], room["free"], room["freed"]) == ("h100", 24, 12, 8)
    assert live["queues"] == [{"overlay": "dev", "namespace": "merge", "queue": "research", "waiting": 1}]
    assert [(one["name"], one["state"]) for one in live["claims"]] == [("data", "does not exist yet")]
    assert "`merge/yolo" in text
    assert "has trained for 31 hours, `loss=0.31`" in text
    assert "24 devices start, 12 are free and 8 of runs that stop: runs will wait" in text


def test_claims_that_are_not_bound_or_nearly_full(world: Make, kubelet: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    here = world("claims")
    run = here.job("yolo", more="data: {data: /data}\n")
    history = committed(here)
    assert kubelet.lines == {}
    trains(here, run, 2)
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "claims"},
        "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    live = here.cluster.apply(claim)
    here.repository.job(
        EDITED + "data: {data: /data}\n",
        "yolo",
        "claims",
    )
    history.rendering()
    assert [one["state"] for one in plan(here)["live"]["claims"]] == ["is pending"]
    here.status(live, {"phase": "Bound"})
    found = plan(here)["live"]
    assert found["claims"] == []
    assert found["missing"][0].startswith(f"how full the claims are on node `{NODE}`: "), "the test's node is local"
    get = Api.get

    def answered(api: Api, path: str, query: Any = None, *more: Any) -> Any:
        volume = {"pvcRef": {"namespace": "claims", "name": "data"}, "usedBytes": 97, "capacityBytes": 100}
        return {"pods": [{"volume": [volume]}]} if path.endswith("/stats/summary") else get(api, path, query, *more)

    monkeypatch.setattr(Api, "get", answered)
    assert [one["state"] for one in plan(here)["live"]["claims"]] == ["is 97 % full"]


def test_without_rights_the_missing_facts_are_listed_and_the_verdict_is_the_same(world: Make) -> None:
    here = world("rights")
    here.job("yolo", more=MORE.replace("accelerator: h100\n", ""))
    history = committed(here)
    here.repository.job(EDITED + "gpus: 8\n", "yolo", "rights")
    history.rendering()
    pure = json.loads(here.gen("plan", "--output", "json", "--base", "main"))
    code = here.code
    found = plan(here, context="nobody")
    assert here.code == code == 0
    assert {name: found[name] for name in pure if name not in ("live", "headline", "changes")} == {
        name: pure[name] for name in pure if name not in ("live", "headline", "changes")
    }
    assert pure["live"] is None
    assert found["live"]["runs"] == []
    missing = "\n".join(found["live"]["missing"])
    assert "the runs that stop: context `nobody`" in missing
    assert "free devices: context `nobody`" in missing
    assert "not known: free devices: context `nobody`" in here.gen("plan", "--live", "--base", "main", context="nobody")
    unknown = plan(here, context="dev=elsewhere")["live"]["missing"]
    assert unknown[0] == "everything about overlay `dev`: its cluster is not known"
    assert "unknown context `elsewhere`" in unknown[1]
