"""docs/frameworks.md: every job renders without a finding, and its table has what gen and the operators set."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from gen.base.routes import follow
from gen.job.kinds import KINDS
from gen.kubernetes.facts.pods import pods_by_shape
from tests.support import OVERLAY, PROJECT, Repository

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = (PROJECT / "docs/frameworks.md").read_text("utf-8")
JOBS = re.findall(r"(?sm)^```yaml\n(.*?)^```$", PAGE)
OPERATORS = OVERLAY + "operators: {mpi: kubeflow.org/v2beta1}\n"
PET = {f"PET_{name}" for name in ("NNODES", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT", "NPROC_PER_NODE")}
PROCESS = {"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE"}
READS = {
    "`torchrun`": (8, PET),
    "`accelerate launch`, several GPUs per pod": (8, PET),
    "`accelerate launch`, one GPU per pod": (1, {*PROCESS, "LOCAL_RANK"}),
    "one process per pod, by `python`": (1, PROCESS),
    "JAX": (8, {"JAX_COORDINATOR_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID"}),
    "TensorFlow": (8, {"TF_CONFIG"}),
    "`python -m paddle.distributed.launch`": (8, {"PADDLE_MASTER", "PADDLE_NNODES"}),
    "`mpirun`, `horovodrun`": (8, {"OMPI_MCA_orte_default_hostfile"}),
}
"""GPUs of each pod, and variables that a launcher needs to find the other pods."""
TABLE = [kind for kind in KINDS if kind not in ("ray", "pipeline")]


def test_jobs_are_found() -> None:
    assert len(JOBS) >= 7


@pytest.mark.parametrize("job", JOBS)
def test_a_job_renders(repo: Repository, job: str) -> None:
    repo.overlay(OPERATORS)
    repo.job(job)
    report, code = repo.render()
    assert (code, report.findings) == (0, ()), report


def test_the_table_has_what_finds_the_other_pods(repo: Repository) -> None:
    assert "\n".join(table(repo)) in PAGE


def table(repo: Repository) -> Iterator[str]:
    yield "| command | " + " | ".join(f"`{kind}`" for kind in TABLE) + " |"
    yield "|---" * (len(TABLE) + 1) + "|"
    for launcher, (gpus, needed) in READS.items():
        cells = (who(repo, kind, gpus, needed) for kind in TABLE)
        yield f"| {launcher} | {' | '.join(cells)} |"


def who(repo: Repository, kind: str, gpus: int, needed: set[str]) -> str:
    """Who sets the variables in two pods that train."""
    text = f"kind: {kind}\nimage: a:1\ncommand: x\nworkers: 2\ngpus: {gpus}\n"
    repo.overlay(OPERATORS)
    repo.job(text)
    (run,) = [body for body in repo.objects() if body["kind"] == KINDS[kind].facts.kind]
    containers = [one for route in pods_by_shape(run) for one in follow(run, (*route, "containers"))]
    containers += [run["spec"]["trainer"]] if kind == "train" else []
    own = {entry["name"] for container in containers for entry in container.get("env", [])}
    model = KINDS[kind]
    operator = model.model_validate({"kind": kind, "image": "a:1", "command": "x"}).reserved
    if not needed <= own | operator:
        return ""
    return "gen" if needed <= own else "operator" if needed <= operator else "both"
