"""`gen top` against a real API server, with nodes that the test registers."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.live.world import OVERLAY, RUNNING, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Make = Callable[[str], World]


@contextmanager
def nodes(here: World, **gpus: int) -> Iterator[None]:
    """Nodes by name, each with some GPUs of a model. Pods of other tests stay on nodes of equal names."""
    made = []
    for name, number in gpus.items():
        labels = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3" if number == 8 else "NVIDIA-A10"}
        body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
        live = here.cluster.apply(body)
        amounts = {"cpu": "64", "memory": "512Gi", **({"nvidia.com/gpu": str(number)} if number else {})}
        ready = {"type": "Ready", "status": "True", "reason": "a", "message": "b"}
        here.status(live, {"capacity": amounts, "allocatable": amounts, "conditions": [ready]})
        made.append(live)
    try:
        yield
    finally:
        for live in made:
            assert here.cluster.client.delete(here.cluster.path(live)).status == 200


def gpu_pod(here: World, run: dict[str, Any], index: int, node: str, gpus: int) -> None:
    amounts = {"limits": {"nvidia.com/gpu": str(gpus)}, "requests": {"nvidia.com/gpu": str(gpus)}}
    spec = {"containers": [{"name": "main", "image": "a:1", "resources": amounts}], "nodeName": node}
    here.pod(run, "worker", index, RUNNING, **spec)


def test_nodes_and_the_jobs_that_hold_them(world: Make) -> None:
    here = world("top")
    run = here.job(more="workers: 3\ngpus: 4\n")
    with nodes(here, h1=8, h2=8, small=4, cpu=0):
        gpu_pod(here, run, 0, "h1", 4)
        gpu_pod(here, run, 1, "h1", 4)
        gpu_pod(here, run, 2, "h2", 4)
        assert here.cluster.client.merge("/api/v1/nodes/small", {"spec": {"unschedulable": True}}).status == 200
        document = json.loads(here.gen("top", "--output", "json"))
        found = {node["node"]: (node["total"], node["allocated"], node["free"]) for node in document["nodes"]}
        assert {name: found[name] for name in ("h1", "h2", "small")} == {
            "h1": (8, 8, 0),
            "h2": (8, 4, 4),
            "small": (4, 0, 0),
        }
        assert "cpu" not in found
        (job,) = [one for one in document["jobs"] if one["namespace"] == "top"]
        assert (job["job"], job["pods"], job["nodes"], job["gpus"]) == ("demo", 3, 2, 12)
        text = here.gen("top")
        assert "NVIDIA-H100-80GB-HBM3      2     16         12     4" in text
        assert "cordoned" in text
        assert here.code == 0
        output = here.gen("top", context="nobody")
        assert here.code == 1
        assert "[cluster-forbidden]" in output


def test_an_accelerator_that_pins_its_model_does_not_hide_it(world: Make) -> None:
    """Machines of one type may have different GPUs, so their type is not the model."""
    here = world("pinned")
    pinned = "accelerators: {h100: {nvidia: NVIDIA-H100-80GB-HBM3}}\n"
    here.repository.overlay(OVERLAY.format(namespace="pinned") + pinned)
    with nodes(here, h1=8, a1=4):
        for name in ("h1", "a1"):
            labels = {"metadata": {"labels": {"node.kubernetes.io/instance-type": "n1-standard-16"}}}
            assert here.cluster.client.merge(f"/api/v1/nodes/{name}", labels).status == 200
        found = {node["node"]: node["model"] for node in json.loads(here.gen("top", "--output", "json"))["nodes"]}
    assert found == {"h1": "NVIDIA-H100-80GB-HBM3", "a1": "NVIDIA-A10"}


@pytest.mark.parametrize("width", ["60", "80", "200"])
def test_it_fits_the_terminal(world: Make, width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = world("top-width")
    monkeypatch.setenv("COLUMNS", width)
    refused = here.gen("top", context="nobody")
    assert "[cluster-forbidden]" in " ".join(refused.split())
    assert max(map(len, refused.splitlines())) <= int(width)
    with nodes(here, **{"ip-10-20-30-40.eu-central-1.compute.internal": 8}):
        output = here.gen("top")
        assert max(map(len, output.splitlines())) <= int(width)
        assert "ip-10-20-30-40" in output


def test_usage_from_metrics_server(world: Make) -> None:
    here = world("top-usage")
    run = here.job(more="gpus: 8\n")
    here.cluster.install([metrics("NodeMetrics", "nodes", "Cluster"), metrics("PodMetrics", "pods", "Namespaced")])
    with nodes(here, used=8):
        gpu_pod(here, run, 0, "used", 8)
        usage = {"cpu": "12500m", "memory": "64Gi"}
        node = {"apiVersion": "metrics.k8s.io/v1beta1", "kind": "NodeMetrics", "metadata": {"name": "used"}}
        here.cluster.apply({**node, "usage": usage})
        pod = {
            "apiVersion": "metrics.k8s.io/v1beta1",
            "kind": "PodMetrics",
            "metadata": {
                "name": f"{run['metadata']['name']}-worker-0",
                "namespace": "top-usage",
                "labels": {"gen/job": "demo"},
            },
            "containers": [{"name": "main", "usage": usage}],
        }
        here.cluster.apply(pod)
        document = json.loads(here.gen("top", "--output", "json"))
        (job,) = [one for one in document["jobs"] if one["namespace"] == "top-usage"]
        assert job["usage"] == {"cpu": 12.5, "memory": 64 << 30}
        (own,) = [one for one in document["nodes"] if one["node"] == "used"]
        assert own["usage"] == {"cpu": 12.5, "memory": 64 << 30}
        assert "64Gi" in here.gen("top")


def metrics(kind: str, plural: str, scope: str) -> dict[str, Any]:
    """The definition of a kind that an aggregated API serves in real clusters."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1beta1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{plural}.metrics.k8s.io",
            "annotations": {"api-approved.kubernetes.io": "https://github.com/kubernetes/metrics"},
        },
        "spec": {
            "group": "metrics.k8s.io",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "scope": scope,
            "versions": [version],
        },
    }
