"""Each launcher starts a process on every GPU of all pods of every kind, and they find each other.

The pods are those that the operator of a kind makes, as processes in networks of their own. Frameworks are those of the
Python in `FRAMEWORKS`, such as a virtual environment with torch, accelerate, deepspeed, jax and mpi4py. Jobs of MPI
need Open MPI, sshd and pdsh of Debian.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gen.base.routes import at
from tests.launchers import cluster
from tests.launchers.operators import OPERATORS, pods_of
from tests.support import PROJECT, first_job

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support import Repository

IMAGE = Path(__file__).parent / "image"
"""Programs of Python in pods, for which no checker has the frameworks."""
DECLARED = PROJECT / "tests/golden/declared-kind-that-never-ends/overlays/dev"
"""Declares a kind with the address and the ranks of its pods."""
PYTHON = os.environ.get("FRAMEWORKS", "/usr/bin/python3")
pytestmark = pytest.mark.slow


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder of the disk, because pods have a `/dev/shm` of their own."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)


def need(*modules: str) -> None:
    if reason := cluster.missing():
        pytest.skip(reason)
    for module in sorted(set(modules) - found_modules()):
        pytest.skip(f"{PYTHON} has no {module} that works; name another Python in FRAMEWORKS")


@cache
def found_modules() -> set[str]:
    find = "import importlib.util, sys; print(*filter(importlib.util.find_spec, sys.argv[1:]))"
    words = [PYTHON, "-c", find, "torch", "accelerate", "deepspeed", "jax", "mpi4py"]
    found = set(subprocess.run(words, capture_output=True, text=True, check=False).stdout.split())
    # torch 1, as in Debian 12, cannot start processes on Python 3.11, which lists no member 0 of an enumeration of bits
    start = "from torch.distributed.elastic.multiprocessing import Std, to_map; to_map(Std.from_str('0'), 1)"
    fails = "torch" in found and subprocess.run([PYTHON, "-c", start], capture_output=True, check=False).returncode
    return found - {"torch"} if fails else found


def image(folder: Path, framework: str) -> dict[str, str]:
    """Make an image with the programs of the tests, where `python` is that of the frameworks. Returns its variables."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / "python").write_text(f'#!/bin/sh\nexec {PYTHON} "$@"\n')
    (programs / "python").chmod(0o755)
    for program in IMAGE.glob("*.txt"):
        (folder / program.stem).with_suffix(".py").write_bytes(program.read_bytes())
    return {
        "PATH": f"{programs}:{Path(PYTHON).parent}:/usr/local/bin:/usr/bin:/bin:/usr/sbin",
        "HOME": "/root",
        "PYTHONPATH": str(folder),
        "FRAMEWORK": framework,
        "OMP_NUM_THREADS": "1",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "DS_ACCELERATOR": "cpu",
    }


def results(repo: Repository, job: str, framework: str, folder: Path) -> dict[str, list[tuple[int, int, int]]]:
    """Sums, numbers of processes and local ranks that the processes of each pod print."""
    declared = DECLARED / "overlay.yaml" if job.startswith("kind: replica") else None
    repo.overlay(declared.read_text("utf-8") if declared is not None else OVERLAY)
    if declared is not None:
        shutil.copytree(DECLARED / "crds", repo.root / "overlays/dev/crds")
    repo.job(job)
    (run,) = [body for body in repo.objects() if f"{body['kind']} {body['apiVersion']}" in OPERATORS]
    env = image(folder, framework)
    pods = []
    for number, made in enumerate(pods_of(run)):
        gpus = str(at(made.container, "resources", "limits", "nvidia.com/gpu") or 0)
        pods.append(made.pod(number, {**env, "PRETENDED_GPUS": gpus}, str(folder)))
    ended = cluster.run(pods, 600)
    found = {}
    for pod in pods:
        code, output = ended[pod.name]
        assert pod.serves or code == 0, "\n".join(f"{name} {end}\n{text}" for name, (end, text) in ended.items())
        found[pod.name] = [tuple(map(int, one)) for one in re.findall(r"result (\d+) of (\d+) at (\d+)", output)]
    return found  # type: ignore[return-value]


OVERLAY = """\
kubernetes: "1.34"
namespaces: {team: {}}
operators: {mpi: kubeflow.org/v2beta1}
runtimes: {torch-distributed: {}}
"""


def expected(pods: int, processes: int) -> list[list[tuple[int, int, int]]]:
    """Output of the processes of the pods."""
    world = pods * processes
    return [[(sum(range(world)), world, local) for local in range(processes)] for _ in range(pods)]


KINDS = {
    "batch": ("kind: batch\nworkers: 2\n", 2),
    "jobset": ("kind: jobset\nworkers: 2\n", 2),
    "jobs of a set": ("kind: jobset\nroles: {slice: {replicas: 2}}\n", 2),
    "volcano": ("kind: volcano\nworkers: 2\n", 2),
    "pytorch": ("kind: pytorch\nworkers: 2\n", 2),
    "train": ("kind: train\nworkers: 2\n", 2),
    "declared": ("kind: replica\nworkers: 2\n", 2),
}
"""Jobs, and the number of their pods."""
AGREED = {
    "jobs of a set of several pods": ("kind: jobset\nroles: {slice: {replicas: 2, parallelism: 2}}\n", 4),
    "volcano with its plugin": ("kind: volcano\nworkers: 2\nplugins: {pytorch: []}\n", 2),
    "elastic pytorch": ("kind: pytorch\nelastic: {min: 2, max: 2}\n", 2),
}
"""Jobs with pods that agree on their ranks, which torchrun can, and Accelerate cannot."""


def check(repo: Repository, folder: Path, kind: tuple[str, int], gpus: int, command: str, framework: str) -> None:
    need(*{"torch", framework})
    text, pods = kind
    found = results(repo, f"{text}image: a:1\ncommand: {command}\ngpus: {gpus}\n", framework, folder)
    assert [sorted(one) for one in found.values()] == expected(pods, gpus)


@pytest.mark.parametrize("kind", [*KINDS, *AGREED])
def test_torchrun(repo: Repository, tmp_path: Path, kind: str) -> None:
    check(repo, tmp_path, (KINDS | AGREED)[kind], 2, "torchrun train.py", "torch")


@pytest.mark.parametrize("module", ["torch.distributed.run", "torch.distributed.launch"])
def test_torchrun_as_a_module(repo: Repository, tmp_path: Path, module: str) -> None:
    check(repo, tmp_path, KINDS["batch"], 2, f"python -m {module} train.py", "torch")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gpus", [1, 2])
def test_accelerate(repo: Repository, tmp_path: Path, kind: str, gpus: int) -> None:
    check(repo, tmp_path, KINDS[kind], gpus, "accelerate launch train.py", "accelerate")


def test_one_process_per_pod_without_a_launcher(repo: Repository, tmp_path: Path) -> None:
    check(repo, tmp_path, KINDS["batch"], 1, "python train.py", "torch")


@pytest.mark.parametrize("kind", ["kind: jax\n", "kind: batch\n", "kind: jobset\n", "kind: volcano\n"])
def test_jax(repo: Repository, tmp_path: Path, kind: str) -> None:
    """One process per pod, which has all of its GPUs."""
    need("jax")
    found = results(repo, f"{kind}image: a:1\ncommand: python train.py\nworkers: 2\ngpus: 2\n", "jax", tmp_path)
    assert list(found.values()) == expected(2, 1)


PROGRAMS = {
    "torchrun train.py": "torch",
    "torchrun train.py --deepspeed": "deepspeed",
    "accelerate launch train.py": "accelerate",
    "deepspeed --hostfile": "deepspeed",
    "mpirun python": "mpi4py",
}
"""Frameworks of the program, by the start of its command."""


@pytest.mark.parametrize("kind", KINDS)
def test_deepspeed_by_torchrun(repo: Repository, tmp_path: Path, kind: str) -> None:
    check(repo, tmp_path, KINDS[kind], 1, "torchrun train.py --deepspeed", "deepspeed")


def test_the_first_job_of_the_readme(repo: Repository, tmp_path: Path) -> None:
    """As it is there, with two GPUs in each of its three pods."""
    need("torch")
    (tmp_path / "code/mnist").mkdir(parents=True)
    (tmp_path / "code/mnist/train.py").write_bytes((IMAGE / "train.txt").read_bytes())
    kept = [line for line in first_job().splitlines() if line.startswith(("kind", "image", "command", "workers"))]
    found = results(repo, "\n".join([*kept, "gpus: 2", ""]), "torch", tmp_path)
    assert [sorted(one) for one in found.values()] == expected(3, 2)


def of_page() -> list[str]:
    """The jobs of docs/frameworks.md whose frameworks this test can start."""
    jobs = re.findall(r"(?sm)^```yaml\n(.*?)^```$", (PROJECT / "docs/frameworks.md").read_text("utf-8"))
    return [job for job in jobs if framework(job)]


def framework(job: str) -> str:
    command = re.search(r"(?m)^command: (.*)", job)
    assert command is not None
    if job.startswith("kind: jax"):
        return "jax"
    found = [name for start, name in PROGRAMS.items() if command[1].startswith(start)]
    return found[-1] if found and "kind: tensorflow" not in job else ""


@pytest.mark.parametrize("job", of_page(), ids=lambda job: "-".join(job.split()[1::4][:2]))
def test_commands_of_the_page(repo: Repository, tmp_path: Path, job: str) -> None:
    """As they are there, on two pods with two GPUs each."""
    name = framework(job)
    need(name)
    if "kind: mpi" in job:
        need_programs("mpirun", "sshd", "ssh-keygen", *(["pdsh"] if name == "deepspeed" else []))
    smaller = re.sub(r"(?m)^(workers|gpus): .*", r"\1: 2", job)
    found = results(repo, smaller, name, tmp_path)
    processes = 1 if name == "jax" else 2
    assert sorted(one for pod in found.values() for one in pod) == sorted(
        one for pod in expected(2, processes) for one in pod
    )


def need_programs(*programs: str) -> None:
    for program in programs:
        if shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin") is None:
            pytest.skip(f"{program} is missing; on Debian, install openmpi-bin, openssh-server and pdsh")
