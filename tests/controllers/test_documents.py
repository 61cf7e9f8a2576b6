"""What the documents that the project comes from expect of each job, asserted on the pods that operators create.

The example repository is applied as it is committed: overlay `ack`, and the batch job of `tke`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.controllers.kubelet import Kubelet
from tests.controllers.waiting import wait
from tests.controllers.workbench import apply, pods
from tests.support import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

NAMESPACE = "training"


def example(overlay: str, *jobs: str) -> Iterator[Body]:
    """Rendered objects of jobs, without their storage."""
    for job in jobs:
        for path in sorted((PROJECT / f"rendered/{overlay}/jobs/training/{job}").glob("*.yaml")):
            yield yaml.safe_load(path.read_bytes())


def run_of(bodies: list[Body]) -> str:
    (name,) = [body["metadata"]["name"] for body in bodies if body["kind"] in {"PyTorchJob", "TFJob", "MPIJob", "Job"}]
    return str(name)


def env(pod: Body) -> Body:
    main = pod["spec"]["containers"][0]
    assert len({e["name"] for e in main["env"]}) == len(main["env"]), "no variable is set twice"
    return {e["name"]: e.get("value", e.get("valueFrom")) for e in main["env"]}


def claims(pod: Body) -> dict[str, str]:
    """Mount path to claim in the main container."""
    volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
    mounts = pod["spec"]["containers"][0]["volumeMounts"]
    found = {m["mountPath"]: volumes[m["name"]].get("persistentVolumeClaim", {}).get("claimName") for m in mounts}
    return {path: claim for path, claim in found.items() if claim}


@pytest.fixture
def namespace(cluster: Cluster) -> str:
    cluster.add_namespaces([NAMESPACE])
    return NAMESPACE


@pytest.mark.usefixtures("training_operator")
def test_distributed_pytorch(cluster: Cluster, namespace: str) -> None:
    bodies = list(example("ack", "pytorch-dist"))
    run = run_of(bodies)
    apply(cluster, bodies)
    found = pods(cluster, namespace, 3, run)
    assert set(found) == {f"{run}-master-0", f"{run}-worker-0", f"{run}-worker-1"}
    ranks = {f"{run}-master-0": "0", f"{run}-worker-0": "1", f"{run}-worker-1": "2"}
    for name, pod in found.items():
        settings = env(pod)
        assert (settings["RANK"], settings["WORLD_SIZE"]) == (ranks[name], "3")
        assert (settings["MASTER_ADDR"], settings["MASTER_PORT"]) == (f"{run}-master-0", "23456")
        assert claims(pod) == {"/mnist_data": "training-data"}
        assert pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "1"
    roles = {pod["metadata"]["labels"].get("training.kubeflow.org/job-role") for pod in found.values()}
    assert roles == {"master", None}, "one pod is the master, which finds its logs"


@pytest.mark.usefixtures("training_operator")
def test_distributed_tensorflow(cluster: Cluster, namespace: str) -> None:
    bodies = list(example("ack", "mnist-simple-gpu-dist"))
    run = run_of(bodies)
    apply(cluster, bodies)
    found = pods(cluster, namespace, 3, run)
    roles = ("master", "ps", "worker")
    assert set(found) == {f"{run}-{role}-0" for role in roles}
    addresses = {role: [f"{run}-{role}-0.{namespace}.svc:2222"] for role in roles}
    for role in roles:
        pod = found[f"{run}-{role}-0"]
        config = json.loads(env(pod)["TF_CONFIG"])
        assert config == {"cluster": addresses, "task": {"type": role, "index": 0}, "environment": "cloud"}
        assert claims(pod) == {"/training": "kubeflow-dist-nas-mnist"}
        limits = pod["spec"]["containers"][0]["resources"].get("limits", {})
        assert limits.get("nvidia.com/gpu") == (None if role == "ps" else "1")
    services = {body["metadata"]["name"] for body in cluster.live("", "Service", namespace)}
    assert {f"{run}-{role}-0" for role in roles} <= services, "each address is a service"


@pytest.mark.usefixtures("mpi_operator")
@pytest.mark.parametrize(("name", "workers", "slots"), [("tf-eni", 2, 8), ("tf-host", 2, 8), ("all-reduce", 1, 1)])
def test_mpi(cluster: Cluster, namespace: str, name: str, workers: int, slots: int) -> None:
    bodies = list(example("ack", name))
    run = run_of(bodies)
    apply(cluster, bodies)
    found = pods(cluster, namespace, workers, f"{run}-worker")
    assert set(found) == {f"{run}-worker-{index}" for index in range(workers)}
    config = f"/api/v1/namespaces/{namespace}/configmaps/{run}-config"
    hosts = wait(lambda: cluster.client.get(config).body.get("data"), "hostfile")["hostfile"]
    expected = [f"{run}-worker-{index}.{run}.{namespace}.svc slots={slots}" for index in range(workers)]
    assert hosts.splitlines() == expected
    Kubelet(cluster).run(*found.values())
    (launcher,) = pods(cluster, namespace, 1, f"{run}-launcher").values()
    for pod in (launcher, *found.values()):
        assert pod["metadata"].get("annotations", {}).get("k8s.aliyun.com/eni") == (
            "true" if name == "tf-eni" else None
        )
        host = name == "tf-host"
        assert pod["spec"].get("hostNetwork", False) is host
        assert pod["spec"]["dnsPolicy"] == ("ClusterFirstWithHostNet" if host else "ClusterFirst")
        assert claims(pod) == ({"/training": "user-susan"} if name == "all-reduce" else {})
        if name == "all-reduce":
            assert env(pod)["NCCL_DEBUG"] == "INFO"
    settings = env(launcher)
    assert settings["OMPI_MCA_orte_default_hostfile"] == "/etc/mpi/hostfile"
    assert settings["OMPI_MCA_orte_set_default_slots"] == str(slots)
    assert "/etc/mpi" in {m["mountPath"] for m in launcher["spec"]["containers"][0]["volumeMounts"]}
    assert "nvidia.com/gpu" not in launcher["spec"]["containers"][0]["resources"]["limits"]
    for pod in found.values():
        assert pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == str(slots)
        if name != "all-reduce":
            assert env(pod)["HOROVOD_FUSION_THRESHOLD"] == "67108864", "the overlay's patch"


@pytest.mark.usefixtures("controller_manager")
def test_distributed_data_parallel_on_a_plain_job(cluster: Cluster, namespace: str) -> None:
    bodies = list(example("tke", "test-job"))
    run = run_of(bodies)
    apply(cluster, bodies)
    found = pods(cluster, namespace, 2, run)
    index = "batch.kubernetes.io/job-completion-index"
    assert {pod["metadata"]["annotations"][index] for pod in found.values()} == {"0", "1"}
    for pod in found.values():
        rank = pod["metadata"]["annotations"][index]
        assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == (f"{run}-{rank}", run)
        settings = env(pod)
        assert settings["RANK"] == {"fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.annotations['{index}']"}}
        assert (settings["MASTER_ADDR"], settings["MASTER_PORT"]) == (f"{run}-0.{run}", "8888")
        assert settings["WORLD_SIZE"] == "2"
        assert claims(pod) == {"/workspace/concurrent": "concurrent"}
        assert pod["spec"]["nodeSelector"]["node.kubernetes.io/instance-type"] == "GN10X.2XLARGE40"


@pytest.mark.usefixtures("controller_manager")
@pytest.mark.parametrize(
    ("job", "claim", "logdir"),
    [
        ("pytorch-dist", "training-data", "/mnist_data/pytorch_data/logs"),
        ("mnist-simple-gpu-dist", "kubeflow-dist-nas-mnist", "/training/tensorflow/logs"),
    ],
)
def test_tensorboard(cluster: Cluster, namespace: str, job: str, claim: str, logdir: str) -> None:
    """`kubectl port-forward svc/<job>-tensorboard 9090:6006` asks for a port of the Service that a pod has."""
    apply(cluster, (body for body in example("ack", job) if body["metadata"]["name"] == f"{job}-tensorboard"))
    name = f"{job}-tensorboard"
    (pod,) = pods(cluster, namespace, 1, name).values()
    assert list(claims(pod).values()) == [claim]
    main = pod["spec"]["containers"][0]
    assert f"--logdir={logdir}" in main["args"]
    service = cluster.client.get(f"/api/v1/namespaces/{namespace}/services/{name}").body
    assert service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
    container_ports = {port["name"]: port["containerPort"] for port in main["ports"]}
    ports = {port["port"]: container_ports[port["targetPort"]] for port in service["spec"]["ports"]}
    assert ports == {80: 6006, 6006: 6006}
