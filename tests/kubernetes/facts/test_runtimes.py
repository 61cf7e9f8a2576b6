"""The pods of TrainJobs with their runtimes, as releases of the Kubeflow Trainer create them."""

from __future__ import annotations

from typing import Any

import pytest

from gen.kubernetes.facts import RESOURCES
from gen.kubernetes.facts.demand import demand
from gen.kubernetes.facts.jobset import JOBSET
from gen.kubernetes.facts.runtimes import Runtimes, created_jobset, described
from gen.kubernetes.facts.trainer import TRAINJOB

UNITS = {"": {"nvidia.com/gpu": 1}}
GPUS = {"limits": {"nvidia.com/gpu": 8}}
MPI = described("mpi")


def train(runtime: str, **trainer: Any) -> dict[str, Any]:
    return {"kind": "TrainJob", "spec": {"runtimeRef": {"name": runtime}, "trainer": trainer}}


def counted(body: dict[str, Any], release: str = "2.3", **known: Any) -> tuple[int, int]:
    runtimes = Runtimes(release=release, known={("ClusterTrainingRuntime", name): one for name, one in known.items()})
    asked = demand(body, TRAINJOB, UNITS, runtimes)
    return asked.pods, asked.gpus


def test_the_devices_of_a_runtime_count_for_each_node() -> None:
    assert counted(train("torchtune-llama3.2-1b", numNodes=50)) == (52, 100)


@pytest.mark.parametrize(("release", "gpus"), [("2.2", 0), ("2.3", 100)])
def test_resources_of_a_job_replace_those_of_the_runtime_before_2_3(release: str, gpus: int) -> None:
    body = train("torchtune-llama3.2-1b", numNodes=50, resourcesPerNode={"limits": {"cpu": 4}})
    assert counted(body, release)[1] == gpus


@pytest.mark.parametrize(
    ("release", "nodes", "expected"),
    [("2.0", 4, (4, 8)), ("2.1", 4, (4, 32)), ("2.1", 1, (2, 16)), ("2.3", 2, (2, 16))],
)
def test_an_mpi_runtime_whose_launcher_trains(release: str, nodes: int, expected: tuple[int, int]) -> None:
    assert counted(train("deepspeed-distributed", numNodes=nodes, resourcesPerNode=GPUS), release) == expected


def test_an_mpi_runtime_whose_launcher_does_not_train() -> None:
    body = train("own", numNodes=4, resourcesPerNode=GPUS)
    assert counted(body, own=described("mpi", launcher_trains=False)) == (5, 8)


def test_the_image_reaches_only_the_launcher() -> None:
    body = train("own", image="a:1", command=["mpirun"], env=[{"name": "A", "value": "b"}])
    jobs = created_jobset(body, MPI, "2.3")["spec"]["replicatedJobs"]
    containers = {job["name"]: job["template"]["spec"]["template"]["spec"]["containers"][0] for job in jobs}
    assert (containers["launcher"]["image"], containers["launcher"]["command"]) == ("a:1", ["mpirun"])
    assert not {"image", "command"} & containers["node"].keys()
    assert containers["node"]["env"] == containers["launcher"]["env"][:1], "before those of the operator"


def test_a_change_of_a_port_leaves_the_others() -> None:
    ports = [{"containerPort": 1, "name": "a"}, {"containerPort": 2}]
    runtime = described("torch")
    container = runtime.jobs[0]["template"]["spec"]["template"]["spec"]["containers"][0]
    container["ports"] = ports
    changed = {"containers": [{"name": "node", "ports": [{"containerPort": 2, "name": "b"}]}]}
    body = train("own")
    body["spec"]["podTemplateOverrides"] = [{"targetJobs": [{"name": "node"}], "spec": changed}]
    (job,) = created_jobset(body, runtime, "2.1")["spec"]["replicatedJobs"]
    made = job["template"]["spec"]["template"]["spec"]["containers"][0]["ports"]
    assert made == [ports[0], {"containerPort": 2, "name": "b"}]


def test_each_kind_with_nodes_names_the_kind_with_its_pods() -> None:
    with_nodes = [one for one in RESOURCES.values() if one.nodes is not None]
    assert [(one, one.of_pods) for one in with_nodes] == [(TRAINJOB, JOBSET)]
    assert all(one.of_pods is one for one in RESOURCES.values() if one not in with_nodes)
    body = {"metadata": {"name": "run"}, **train("torch-distributed", numNodes=2)}
    made, kind = Runtimes().expanded(body, TRAINJOB)
    assert (made["kind"], kind) == ("JobSet", JOBSET)
    assert Runtimes().expanded(made, JOBSET) == (made, JOBSET)


@pytest.mark.parametrize("spec", [None, [], "x", {"trainer": []}, {"runtimePatches": [1, {"trainingRuntimeSpec": 2}]}])
def test_any_object_has_a_number_of_pods(spec: object) -> None:
    assert counted({"kind": "TrainJob", "spec": spec})[0] == 1
