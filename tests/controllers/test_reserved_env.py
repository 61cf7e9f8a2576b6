"""Variables that operators set in containers: gen rejects them in a job, or the operator keeps those of the job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.controllers.workbench import Workbench
from tests.controllers.workbench import pods as pods_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

COMMON = "image: a:1\ncommand: x\n"
TRAINING = {
    "pytorch": "kind: pytorch\nworkers: 2\nnprocPerNode: 2\n",
    "elastic": "kind: pytorch\nworkers: 2\nelastic: {min: 1, max: 2}\n",
    "tensorflow": "kind: tensorflow\nworkers: 1\nroles: {ps: {}}\n",
    "jax": "kind: jax\nworkers: 2\n",
    "paddle": "kind: paddle\nworkers: 2\n",
    "xgboost": "kind: xgboost\nworkers: 2\n",
}
MPI = "kind: mpi\nworkers: 1\n"


def environment(container: Body) -> set[str]:
    return {entry["name"] for entry in container.get("env", [])}


def added(bench: Workbench, pods: Iterable[Body]) -> set[str]:
    """Names of variables in the main containers of pods that no rendered container has."""
    (run,) = [body for body in bench.rendered() if "spec" in body and body["kind"].endswith("Job")]
    roles = next(value for key, value in run["spec"].items() if key.endswith("ReplicaSpecs"))
    rendered = [environment(role["template"]["spec"]["containers"][0]) for role in roles.values()]
    return set().union(*(environment(pod["spec"]["containers"][0]) for pod in pods)) - set().union(*rendered)


def assert_rejected(bench: Workbench, job: str, names: set[str], kept: frozenset[str] = frozenset()) -> None:
    assert names, "the operator sets some"
    assert {name for name in names if not rejected(bench, f"{job}env: {{{name}: x}}\n")} == kept
    bench.repository.job(job, namespace=bench.namespace)


def rejected(bench: Workbench, job: str) -> bool:
    bench.repository.job(job, namespace=bench.namespace)
    return {finding.code for finding in bench.repository.render()[0].findings} == {"reserved-env"}


@pytest.mark.usefixtures("training_operator")
@pytest.mark.parametrize("kind", list(TRAINING))
def test_training_operator(cluster: Cluster, workbench: Callable[..., Workbench], kind: str) -> None:
    bench = workbench(cluster)
    bench.job(TRAINING[kind] + COMMON)
    assert_rejected(bench, TRAINING[kind] + COMMON, added(bench, bench.pods(2).values()))


@pytest.mark.usefixtures("mpi_operator")
@pytest.mark.parametrize("implementation", ["OpenMPI", "Intel", "MPICH"])
def test_mpi_operator(cluster: Cluster, workbench: Callable[..., Workbench], implementation: str) -> None:
    bench = workbench(cluster)
    job = f"{MPI}{COMMON}implementation: {implementation}\n"
    bench.job(job)
    bench.kubelet.run(*pods_of(cluster, bench.namespace, 1, "-worker-").values())
    names = added(bench, bench.pods(2).values())
    assert {"K_MPI_JOB_ROLE", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES"} <= names
    assert_rejected(bench, job, names)


def test_mpi_of_the_training_operator(cluster_v1: Cluster, workbench: Callable[..., Workbench]) -> None:
    bench = workbench(cluster_v1, mpi="kubeflow.org/v1")
    bench.job(MPI + COMMON)
    names = added(bench, bench.pods(2).values())
    kept = frozenset({"I_MPI_HYDRA_BOOTSTRAP", "I_MPI_HYDRA_BOOTSTRAP_EXEC"})
    assert_rejected(bench, MPI + COMMON, names, kept)
    bench.job(f"{MPI}{COMMON}env: {{{', '.join(f'{name}: own' for name in kept)}}}\n", "own")
    found = pods_of(cluster_v1, bench.namespace, 2, "own-")
    (launcher,) = [pod for name, pod in found.items() if name.endswith("-launcher")]
    main = launcher["spec"]["containers"][0]["env"]
    assert sorted(entry["name"] for entry in main if entry.get("value") == "own") == sorted(kept)
    assert len([entry for entry in main if entry["name"] in kept]) == len(kept)
