"""Variables that let launchers find the other pods of a run. `tests/launchers` runs the launchers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.base.routes import follow
from gen.kubernetes.facts.pods import pods_by_shape

if TYPE_CHECKING:
    from tests.support import Repository

COMMON = "image: a:1\ncommand: torchrun train.py\nworkers: 2\n"
PET = {f"PET_{name}" for name in ("NNODES", "NODE_RANK", "NPROC_PER_NODE", "MASTER_ADDR", "MASTER_PORT")}
JAX = {f"JAX_{name}" for name in ("COORDINATOR_ADDRESS", "NUM_PROCESSES", "PROCESS_ID")}
PROCESS = {"MASTER_ADDR", "MASTER_PORT", "NNODES", "NODE_RANK", "RANK", "WORLD_SIZE"}
DYNAMIC = {"PET_NNODES", "PET_NPROC_PER_NODE", "PET_RDZV_BACKEND", "PET_RDZV_ENDPOINT"}


def variables(repo: Repository, job: str, common: str = COMMON) -> list[dict[str, object]]:
    """Variables of the training container of each role, without that of all kinds."""
    repo.job(common + job)
    (run,) = [body for body in repo.objects() if body["kind"].endswith(("Job", "JobSet"))]
    pods = [follow(run, route) for route in pods_by_shape(run)]
    entries = [pod["containers"][0].get("env", []) for pod in pods]
    return [{one["name"]: one.get("value") for one in env if one["name"] != "PYTHONUNBUFFERED"} for env in entries]


@pytest.mark.parametrize(
    ("job", "roles"),
    [
        ("kind: batch\ngpus: 8\n", [PROCESS | PET | JAX]),
        ("kind: batch\ngpus: 1\n", [PROCESS | PET | JAX | {"LOCAL_RANK"}]),
        ("kind: batch\narray: true\ngpus: 8\n", [{"TASK_COUNT"}]),
        ("kind: jobset\ngpus: 8\n", [PROCESS | PET | JAX]),
        (
            "kind: jobset\ngpus: 8\nroles: {worker: {replicas: 2}}\n",
            [(PROCESS - {"NODE_RANK", "RANK"}) | DYNAMIC | {"JOB_INDEX", "JOB_PODS"}],
        ),
        ("kind: volcano\ngpus: 8\n", [PROCESS | PET | JAX]),
        ("kind: volcano\n", [PET | JAX]),
        ("kind: volcano\ngpus: 8\nplugins: {pytorch: []}\n", [DYNAMIC | {"PET_RDZV_CONF"}] * 2),
        ("kind: volcano\ngpus: 8\nplugins: {tensorflow: []}\n", [set()]),
        ("kind: volcano\ngpus: 8\nroles: {worker: {}, b: {}}\n", [set(), set()]),
        ("kind: jax\ngpus: 8\n", [JAX]),
        ("kind: pytorch\ngpus: 8\n", [set(), set()]),
        ("kind: pytorch\ngpus: 1\n", [{"LOCAL_RANK"}, {"LOCAL_RANK"}]),
    ],
)
def test_a_kind_sets_what_its_operator_does_not(repo: Repository, job: str, roles: list[set[str]]) -> None:
    assert [set(role) for role in variables(repo, job)] == roles


@pytest.mark.parametrize(("gpus", "processes"), [(0, "1"), (1, "1"), (8, "8")])
def test_torchrun_starts_a_process_per_gpu(repo: Repository, gpus: int, processes: str) -> None:
    (role,) = variables(repo, f"kind: batch\ngpus: {gpus}\n")
    assert (role["PET_NNODES"], role["PET_NPROC_PER_NODE"]) == ("2", processes)


def test_a_job_overrides_them(repo: Repository) -> None:
    (role,) = variables(repo, "kind: batch\ngpus: 8\nenv: {PET_NPROC_PER_NODE: '4'}\n")
    assert role["PET_NPROC_PER_NODE"] == "4"


@pytest.mark.parametrize(("gpus", "address"), [(0, None), (8, "localhost")])
def test_one_pod_needs_no_host_name(repo: Repository, gpus: int, address: str | None) -> None:
    (role,) = variables(repo, f"kind: batch\ngpus: {gpus}\n", "image: a:1\ncommand: x\n")
    assert role.get("PET_MASTER_ADDR") == address
