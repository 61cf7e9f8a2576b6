"""The pods that operators create: names, images, variables and resources, also compared with the training operator."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from gen.kubernetes.facts import RESOURCES, resource_of_object
from gen.kubernetes.facts.builtin import JOB
from gen.kubernetes.facts.demand import demand
from gen.kubernetes.facts.kubeflow import PYTORCHJOB
from gen.kubernetes.facts.pods import created_pods
from gen.kubernetes.facts.ray import RAYJOB
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
            {
                "kind": "RayJob",
                "metadata": {"name": "a" * 47},
                "spec": {
                    "rayClusterSpec": {
                        "headGroupSpec": {"template": template("a")},
                        "workerGroupSpecs": [{"groupName": "g", "replicas": 1, "template": template("a")}],
                    }
                },
            },
            ["a" * 47 + "-xx-head-xxxxx", "a" * 47 + "-xx-worker-xxxxx"],
        ),
        (
            {
                "apiVersion": "batch.volcano.sh/v1alpha1",
                "kind": "Job",
                "spec": {"tasks": [{"name": "worker", "replicas": 2, "template": template("a")}]},
            },
            ["run-worker-0", "run-worker-1"],
        ),
        (
            {"kind": "TrainJob", "spec": {"runtimeRef": {"name": "deepspeed-distributed"}, "trainer": {"numNodes": 3}}},
            ["run-node-0-0-xxxxx", "run-node-0-1-xxxxx", "run-launcher-0-0-xxxxx"],
        ),
    ],
)
def test_names(body: dict[str, Any], names: list[str]) -> None:
    of_kind = [one for key, one in RESOURCES.items() if key[1] == body["kind"]]
    api_version = body.get("apiVersion") or next(next(iter(one.versions)) for one in of_kind if one.group != VOLCANO)
    whole = {"metadata": {"name": "run"}, **body, "apiVersion": api_version}
    resource = resource_of_object(whole["apiVersion"], whole["kind"])
    assert resource is not None
    assert [pod.name for pod in created_pods(whole, resource, NO_RUNTIMES)] == names


VOLCANO = "batch.volcano.sh"
FIELD = "(a field of the pod)"


def variables(api_version: str, kind: str, spec: dict[str, Any]) -> dict[str, dict[str, str]]:
    """The variables of the first container of each pod, by name."""
    resource = resource_of_object(api_version, kind)
    assert resource is not None
    metadata = {"name": "run", "namespace": "team"}
    body = {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
    return {
        pod.name: {one["name"]: one.get("value", FIELD) for one in pod.containers[0].get("env") or ()}
        for pod in created_pods(body, resource)
    }


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            {"slotsPerWorker": 2},
            {
                "K_MPI_JOB_ROLE": "launcher",
                "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
                "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile",
                "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
                "OMPI_MCA_orte_set_default_slots": "2",
                "NVIDIA_VISIBLE_DEVICES": "",
                "NVIDIA_DRIVER_CAPABILITIES": "",
            },
        ),
        (
            {"mpiImplementation": "MPICH", "runLauncherAsWorker": True},
            {
                "K_MPI_JOB_ROLE": "launcher",
                "HYDRA_HOST_FILE": "/etc/mpi/hostfile",
                "HYDRA_LAUNCH_EXTRA_ARGS": "-o ConnectionAttempts=10",
            },
        ),
    ],
)
def test_variables_of_the_mpi_operator(fields: dict[str, Any], expected: dict[str, str]) -> None:
    """From `newLauncherPodTemplate` and `newWorker` in `pkg/controller/mpi_job_controller.go`."""
    specs = {"Launcher": {"template": template("mpi")}, "Worker": {"replicas": 2, "template": template("mpi")}}
    pods = variables("kubeflow.org/v2beta1", "MPIJob", {**fields, "mpiReplicaSpecs": specs})
    assert pods == {
        "run-launcher-xxxxx": expected,
        "run-worker-0": {"K_MPI_JOB_ROLE": "worker"},
        "run-worker-1": {"K_MPI_JOB_ROLE": "worker"},
    }


def test_variables_of_the_plugins_of_volcano() -> None:
    """From `pkg/controllers/job/plugins`."""
    tasks = [
        {"name": name, "replicas": 1 + index, "template": template("a")}
        for index, name in enumerate(("master", "worker"))
    ]
    spec = {"plugins": {"env": [], "svc": [], "pytorch": ["--port=29500"], "mpi": []}, "tasks": tasks}
    pods = variables(f"{VOLCANO}/v1alpha1", "Job", spec)
    assert pods["run-worker-1"] == {
        "VK_TASK_INDEX": "1",
        "VC_TASK_INDEX": "1",
        **dict.fromkeys(("VC_MASTER_HOSTS", "VC_MASTER_NUM", "VC_WORKER_HOSTS", "VC_WORKER_NUM"), FIELD),
        "MASTER_ADDR": "run-master-0.run",
        "MASTER_PORT": "29500",
        "WORLD_SIZE": "3",
        "RANK": "2",
    }
    assert pods["run-master-0"]["MPI_HOST"] == "run-worker-0.run,run-worker-1.run"


def test_variables_and_containers_of_kuberay() -> None:
    """From `ray-operator/controllers/ray/common/pod.go`."""
    limits = {"limits": {"cpu": "1500m", "memory": "1Gi", "nvidia.com/gpu": "2"}}
    group = {
        "groupName": "g",
        "replicas": 1,
        "rayStartParams": {"num-cpus": "0"},
        "template": template("a", resources=limits),
    }
    head = {"rayStartParams": {"include-dashboard": "false"}, "template": template("a")}
    cluster = {"enableInTreeAutoscaling": True, "headGroupSpec": head, "workerGroupSpecs": [group]}
    pods = variables("ray.io/v1", "RayJob", {"rayClusterSpec": cluster})
    address = "run-xxxxx-head-svc.team.svc.cluster.local"
    named = dict.fromkeys(
        ("RAY_CLUSTER_NAME", "RAY_CLUSTER_NAMESPACE", "RAY_CLOUD_INSTANCE_ID", "RAY_NODE_TYPE_NAME"), FIELD
    )
    both = {"RAY_PORT": "6379", "RAY_USAGE_STATS_KUBERAY_IN_USE": "1", "RAY_DASHBOARD_ENABLE_K8S_DISK_USAGE": "1"}
    assert pods["run-xxxxx-head-xxxxx"] == {
        **named,
        **both,
        "RAY_ADDRESS": "127.0.0.1:6379",
        "RAY_USAGE_STATS_EXTRA_TAGS": "kuberay_version=v1.7.0;kuberay_crd=RayJob",
        "KUBERAY_GEN_RAY_START_CMD": "ray start --head  --block  --dashboard-agent-listen-port=52365 "
        " --dashboard-host=0.0.0.0  --include-dashboard=false  --metrics-export-port=8080  --no-monitor ",
    }
    assert pods["run-xxxxx-g-worker-xxxxx"] == {
        **named,
        **both,
        "FQ_RAY_IP": address,
        "RAY_IP": "run-xxxxx-head-svc",
        "RAY_ADDRESS": f"{address}:6379",
        "KUBERAY_GEN_RAY_START_CMD": f"ray start  --address={address}:6379  --block "
        " --dashboard-agent-listen-port=52365  --memory=1073741824  --metrics-export-port=8080 "
        " --num-cpus=0  --num-gpus=2 ",
    }


def test_a_ray_cluster_has_the_containers_that_kuberay_adds() -> None:
    cluster = {
        "enableInTreeAutoscaling": True,
        "headGroupSpec": {"template": template("a")},
        "workerGroupSpecs": [{"groupName": "g", "replicas": 1, "template": template("b")}],
    }
    body = {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": "run"}}
    spec = {"submissionMode": "SidecarMode", "rayClusterSpec": cluster}
    head, worker = created_pods({**body, "spec": spec}, RAYJOB)
    assert [one["name"] for one in head.containers] == ["a", "ray-job-submitter", "autoscaler"]
    assert [(one["name"], one["image"]) for one in worker.init_containers] == [("wait-gcs-ready", "a:1")]


def test_the_resources_of_a_pod_are_those_of_all_containers() -> None:
    amounts = [
        {"cpu": "4", "memory": "1Gi", "nvidia.com/gpu": 1},
        {"cpu": "500m", "memory": "512Mi", "nvidia.com/gpu": 2},
    ]
    pods = [{"name": f"c{number}", "resources": {"limits": one}} for number, one in enumerate(amounts)]
    body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "run"}}
    (pod,) = created_pods({**body, "spec": {"template": {"spec": {"containers": pods}}}}, JOB)
    assert pod.resources == {"cpu": "4500m", "memory": "1536Mi", "nvidia.com/gpu": "3"}


@pytest.mark.parametrize(
    ("runtime", "trainer", "expected"),
    [
        (
            "torch-distributed",
            {"numNodes": 2, "resourcesPerNode": {"limits": {"cpu": "4"}}},
            {
                "PET_NNODES": "2",
                "PET_NPROC_PER_NODE": "4",
                "PET_NODE_RANK": FIELD,
                "PET_MASTER_ADDR": "run-node-0-0.run",
                "PET_MASTER_PORT": "29500",
            },
        ),
        (
            "jax-distributed",
            {"numNodes": 2},
            {
                "JAX_NUM_PROCESSES": "2",
                "JAX_PROCESS_ID": FIELD,
                "JAX_COORDINATOR_ADDRESS": "run-node-0-0.run:29500",
            },
        ),
        (
            "xgboost-distributed",
            {"numNodes": 2, "resourcesPerNode": {"requests": {"nvidia.com/gpu": "4"}}},
            {
                "DMLC_TRACKER_URI": "run-node-0-0.run",
                "DMLC_TRACKER_PORT": "29500",
                "DMLC_TASK_ID": FIELD,
                "DMLC_NUM_WORKER": "8",
            },
        ),
        (
            "mpi-distributed",
            {"numNodes": 2, "resourcesPerNode": {"limits": {"nvidia.com/gpu": "4"}}},
            {
                "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile",
                "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
                "OMPI_MCA_orte_set_default_slots": "4",
                "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
            },
        ),
    ],
)
def test_variables_of_the_trainer(runtime: str, trainer: dict[str, Any], expected: dict[str, str]) -> None:
    """From `pkg/runtime/framework/plugins`."""
    pods = variables("trainer.kubeflow.org/v1alpha1", "TrainJob", {"runtimeRef": {"name": runtime}, "trainer": trainer})
    last = list(pods)[-1]
    assert pods[last] == {**expected, "JOB_COMPLETION_INDEX": FIELD}
