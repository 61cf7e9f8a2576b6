"""The pods that operators create: names, images, variables and resources, also compared with the training operator."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from gen.kubernetes.facts import RESOURCES, resource_of_object
from gen.kubernetes.facts.created_pods import created_pods
from gen.kubernetes.facts.demand import demand
from gen.kubernetes.facts.kubeflow import PYTORCHJOB
from gen.kubernetes.facts.runtimes import NO_RUNTIMES
from tests.go_programs import answers, go_program

if TYPE_CHECKING:
    from pathlib import Path

SEED, CASES = 11, 500
UNITS = {"": {"nvidia.com/gpu": 1}}
KINDS = {
    "PyTorchJob": ("pytorchReplicaSpecs", "pytorch", "pytorchjob-port"),
    "TFJob": ("tfReplicaSpecs", "tensorflow", "tfjob-port"),
    "XGBoostJob": ("xgbReplicaSpecs", "xgboost", "xgboostjob-port"),
    "PaddleJob": ("paddleReplicaSpecs", "paddle", "master"),
    "JAXJob": ("jaxReplicaSpecs", "jax", "jaxjob-port"),
}


def template(container: str, **fields: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": container, "image": "a:1", **fields}]}}


def training(chance: random.Random) -> dict[str, Any]:
    """A random object of the training operator that its webhooks accept."""
    kind = chance.choice(list(KINDS))
    field, container, port = KINDS[kind]
    roles = {"TFJob": ["PS", "Worker", chance.choice(["Chief", "Evaluator"])], "JAXJob": ["Worker"]}
    chosen = roles.get(kind, ["Master", "Worker"])
    elastic = kind == "PyTorchJob" and chance.random() < 0.3
    if kind == "PaddleJob" or elastic:
        chosen = chance.choice([["Worker"], chosen]) if kind == "PaddleJob" else ["Worker"]
    specs: dict[str, Any] = {}
    for role in chosen:
        more: dict[str, Any] = {"env": [{"name": "A", "value": "b"}]} if chance.random() < 0.5 else {}
        if chance.random() < 0.4:
            more["ports"] = [{"name": port, "containerPort": chance.randint(1024, 60000)}]
        if chance.random() < 0.5:
            more["resources"] = {"limits": {"nvidia.com/gpu": str(chance.randint(1, 8))}}
        specs[role] = {"replicas": 1 if role in ("Master", "Chief") else chance.randint(1, 4)}
        specs[role]["template"] = template(container, **more)
        if chance.random() < 0.3:
            specs[role]["template"]["spec"]["containers"].append({"name": "aside", "image": "b:1"})
    spec: dict[str, Any] = {field: specs}
    if kind == "PyTorchJob" and chance.random() < 0.6:
        spec["nprocPerNode"] = chance.choice(["auto", "gpu", "8"])
    if elastic:
        spec["elasticPolicy"] = {"minReplicas": 1, "maxReplicas": 4, "rdzvBackend": "c10d"}
        if chance.random() < 0.5:
            spec["elasticPolicy"] |= {"maxRestarts": 3, "rdzvId": "x", "rdzvConf": [{"key": "a", "value": "1"}]}
    if kind == "TFJob" and chance.random() < 0.3:
        spec["enableDynamicWorker"] = chance.choice([True, False])
    metadata = {"name": f"job-{chance.randint(0, 99)}", "namespace": "team"}
    return {"apiVersion": "kubeflow.org/v1", "kind": kind, "metadata": metadata, "spec": spec}


def summary(name: str, containers: list[dict[str, Any]]) -> tuple[str, list[Any]]:
    def variables(one: dict[str, Any]) -> list[tuple[str, str]]:
        return [
            (entry["name"], str(entry.get("value", entry.get("valueFrom") or ""))) for entry in one.get("env") or ()
        ]

    return name, [(one["name"], one["image"], one.get("resources") or {}, variables(one)) for one in containers]


@pytest.mark.slow
def test_random_objects_have_the_pods_of_the_training_operator(tmp_path: Path) -> None:
    chance = random.Random(SEED)  # noqa: S311 - for cases
    bodies = [training(chance) for _ in range(CASES)]
    real = answers(go_program("podref", tmp_path), bodies)
    for body, expected in zip(bodies, real, strict=True):
        resource = resource_of_object(body["apiVersion"], body["kind"])
        assert resource is not None
        pods = list(created_pods(body, resource))
        ours = sorted(summary(pod.name, pod.containers) for pod in pods)
        assert ours == sorted(summary(pod["name"], pod["containers"]) for pod in expected), body
        asked = sum(int(pod.resources.get("nvidia.com/gpu", 0)) for pod in pods)
        elastic = "elasticPolicy" in body["spec"]
        assert elastic or (asked, len(pods)) == (demand(body, resource, UNITS).gpus, demand(body, resource, UNITS).pods)


def test_variables_of_the_training_operator() -> None:
    """From `setPodEnv` in `pkg/controller.v1/pytorch/envvar.go`."""
    roles = {"Master": {"replicas": 1}, "Worker": {"replicas": 2}}
    specs = {name: {**one, "template": template("pytorch")} for name, one in roles.items()}
    spec = {"pytorchReplicaSpecs": specs, "nprocPerNode": "8"}
    body = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "run"}, "spec": spec}
    pods = {pod.name: pod for pod in created_pods(body, PYTORCHJOB)}
    assert sorted(pods) == ["run-master-0", "run-worker-0", "run-worker-1"]
    env = {one["name"]: one["value"] for one in pods["run-worker-1"].containers[0]["env"]}
    assert (env["RANK"], env["WORLD_SIZE"], env["PET_NNODES"], env["PET_NPROC_PER_NODE"]) == ("2", "24", "3", "8")
    assert (env["MASTER_ADDR"], env["MASTER_PORT"]) == ("run-master-0", "23456")


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (
            {"kind": "Job", "spec": {"parallelism": 2, "completionMode": "Indexed", "template": template("a")}},
            ["run-0-xxxxx", "run-1-xxxxx"],
        ),
        ({"kind": "Job", "spec": {"template": template("a")}}, ["run-xxxxx"]),
        (
            {
                "kind": "JobSet",
                "spec": {
                    "replicatedJobs": [
                        {
                            "name": "w",
                            "replicas": 2,
                            "template": {"spec": {"parallelism": 1, "template": template("a")}},
                        }
                    ]
                },
            },
            ["run-w-0-0-xxxxx", "run-w-1-0-xxxxx"],
        ),
        (
            {
                "kind": "RayJob",
                "spec": {
                    "rayClusterSpec": {
                        "headGroupSpec": {"template": template("a")},
                        "workerGroupSpecs": [
                            {"groupName": "g", "replicas": 1, "numOfHosts": 2, "template": template("a")}
                        ],
                    }
                },
            },
            ["run-xxxxx-head-xxxxx", "run-xxxxx-g-worker-xxxxx", "run-xxxxx-g-worker-xxxxx"],
        ),
        (
            {"kind": "TrainJob", "spec": {"runtimeRef": {"name": "deepspeed-distributed"}, "trainer": {"numNodes": 3}}},
            ["run-node-0-0-xxxxx", "run-node-0-1-xxxxx", "run-launcher-0-0-xxxxx"],
        ),
    ],
)
def test_names(body: dict[str, Any], names: list[str]) -> None:
    (resource,) = [one for key, one in RESOURCES.items() if key[1] == body["kind"] and key[0] != "batch.volcano.sh"]
    api_version = next(iter(resource.versions))
    whole = {"apiVersion": api_version, "metadata": {"name": "run"}, **body}
    assert [pod.name for pod in created_pods(whole, resource, NO_RUNTIMES)] == names
