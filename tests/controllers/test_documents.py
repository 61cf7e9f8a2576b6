"""What the documents that the project comes from expect of each job, asserted on the pods that operators create.

The example repository is applied as it is committed: overlay `ack`, and the batch job of `tke`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from tests.controllers.workbench import apply, pods
from tests.support import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.kubernetes import Body
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
    assert roles == {"master", None}, "one pod is the master, by which its logs are found"
