"""Differences between a file and an object."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from gen.kubernetes.facts.kubeflow import PYTORCHJOB
from gen.kubernetes.objects import QUEUE_LABEL
from gen.live.status import drift
from tests.cases import for_each


def run(queue: str = "") -> dict[str, Any]:
    template = {
        "metadata": {"labels": {"gen/job": "demo"}},
        "spec": {
            "tolerations": [{"key": "gpu", "operator": "Exists"}],
            "containers": [
                {
                    "name": "pytorch",
                    "args": ["a", "b"],
                    "env": [{"name": "A", "value": "1"}],
                    "resources": {"limits": {"cpu": "1", "memory": "1024Mi"}},
                }
            ],
        },
    }
    labels = {"gen/job": "demo", **({QUEUE_LABEL: queue} if queue else {})}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {
            "name": "demo",
            "labels": labels,
            "annotations": {"kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent", "team": "a"},
        },
        "spec": {
            "elasticPolicy": {"maxReplicas": 4},
            "pytorchReplicaSpecs": {"Worker": {"replicas": 2, "template": template}},
        },
    }


def changed(route: tuple[Any, ...], value: Any, queue: str = "") -> list[Any]:
    live = deepcopy(run(queue))
    holder = live
    for step in route[:-1]:
        holder = holder[step]
    if value is None:
        del holder[route[-1]]
    else:
        holder[route[-1]] = value
    return [".".join(map(str, found)) for found in drift(PYTORCHJOB, run(queue), live)]


WORKER = ("spec", "pytorchReplicaSpecs", "Worker")
SPEC = (*WORKER, "template", "spec")
CONTAINER = (*SPEC, "containers", 0)


@for_each(
    ("route", "value"),
    [
        ((*CONTAINER, "args"), ["a"]),
        ((*CONTAINER, "args", 1), "c"),
        ((*CONTAINER, "env", 0, "value"), "2"),
        ((*CONTAINER, "name"), None),
        ((*CONTAINER, "resources", "limits", "cpu"), "2"),
        ((*SPEC, "tolerations"), []),
        (("metadata", "labels", "gen/job"), "other"),
        (("metadata", "annotations", "team"), None),
    ],
)
def test_another_value_is_drift(route: tuple[Any, ...], value: Any) -> None:
    assert changed(route, value) == [".".join(map(str, route))]


@for_each(
    ("route", "value"),
    [
        ((*CONTAINER, "imagePullPolicy"), "Always"),
        ((*CONTAINER, "resources", "limits", "cpu"), "1000m"),
        ((*CONTAINER, "resources", "limits", "memory"), "1Gi"),
        (("metadata", "annotations", "kustomize.toolkit.fluxcd.io/ssa"), None),
        (("metadata", "uid"), "1"),
        (("status",), {"conditions": []}),
        ((*WORKER, "replicas"), 4),
    ],
)
def test_defaults_forms_and_autoscalers_are_not(route: tuple[Any, ...], value: Any) -> None:
    assert changed(route, value) == []


def test_kueue_changes_only_runs_in_a_queue() -> None:
    tolerations = [{"key": "spot", "operator": "Exists"}, {"key": "gpu", "operator": "Exists"}]
    assert changed((*SPEC, "tolerations"), tolerations, "research") == []
    assert changed((*SPEC, "tolerations"), tolerations) != []
