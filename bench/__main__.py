"""Benchmark gen and similar tools on generated repositories: `python -m bench [SIZE]…`.

Print the best wall time of several runs, and ratios, for each number of jobs. Ratios are less noisy than times.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.catalog import kinds_of_jobs, write_catalog
from bench.measure import Measured, environment, measure, peak_memory
from bench.repository import FIRST_JOB, VERSION, make_repository
from gen.kubernetes.schemas.registry import Schemas

if TYPE_CHECKING:
    from collections.abc import Iterator

GEN = [sys.executable, "-m", "gen"]
FLOOR = [sys.executable, "-m", "bench.floor"]
SAMPLE = 10
"""Number of jobs to build with Kustomize; building every job takes too long."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=[100, 1000, 10000], metavar="SIZE")
    parser.add_argument("--runs", type=int, default=5, help="number of runs; the best one counts")
    parser.add_argument("--folder", type=Path, help="working directory; use a tmpfs to exclude the disk")
    arguments = parser.parse_args()
    for size in arguments.sizes:
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            print(f"\n## {size} jobs\n", flush=True)
            for line in report(Path(folder), size, arguments.runs if size < 10000 else min(arguments.runs, 2)):
                print(line, flush=True)


def report(folder: Path, size: int, runs: int) -> Iterator[str]:
    root = folder / "repository"
    job = make_repository(root, size)
    rendered = root / "rendered"
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")

    def clean() -> None:
        """Remove rendered files and the cache, as in a new clone on a new machine."""
        shutil.rmtree(rendered, ignore_errors=True)
        shutil.rmtree(folder / "cache", ignore_errors=True)

    cold = measure([*GEN, "render"], root, runs, before=clean)
    files = sum(1 for path in rendered.rglob("*.yaml"))
    yield f"{files} objects, {sum(path.stat().st_size for path in rendered.rglob('*.yaml')) >> 10} KiB\n"
    yield "| | wall | CPU | relative to the cold render |"
    yield "|---|---|---|---|"
    yield row("cold render", cold, cold)
    yield row("render without change", measure([*GEN, "render"], root, runs), cold)
    yield row("check", measure([*GEN, "check"], root, runs), cold)
    yield row("render of one job", measure([*GEN, "render", job], root, runs), cold)
    yield row("gen plan, one job added", plan(folder, root, runs), cold)
    yield row("floor: parse the inputs, write the same bytes", floor(folder, root, runs), cold)
    yield from peers(folder, root, size, runs, cold)
    yield f"\nPeak memory of `gen validate`: {peak_memory([*GEN, 'validate', 'rendered'], root) >> 20} MiB"
    clean()
    yield f"\nPeak memory of all processes: {peak_memory([*GEN, 'render'], root) >> 20} MiB"


def row(name: str, measured: Measured, cold: Measured) -> str:
    return f"| {name} | {measured.wall:.3f} s | {measured.cpu:.3f} s | {measured.wall / cold.wall:.2f} |"


def plan(folder: Path, root: Path, runs: int) -> Measured:
    """Commit a copy of the repository, add a job to it, and compare the two."""
    target = folder / "plan"
    shutil.copytree(root, target)
    git = ["git", "-C", str(target), "-c", "user.name=bench", "-c", "user.email=bench@example.com"]
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "Base"]):
        subprocess.run([*git, *command], check=True)
    first = target / FIRST_JOB
    shutil.copy(first, first.with_name("added.yaml"))
    subprocess.run([*GEN, "render", "--no-cache"], cwd=target, env=environment(), stdout=subprocess.DEVNULL, check=True)
    measured = measure([*GEN, "plan", "--base", "HEAD"], target, runs)
    shutil.rmtree(target)
    return measured


def floor(folder: Path, root: Path, runs: int) -> Measured:
    target = folder / "floor"
    command = [*FLOOR, str(root), str(target)]
    return measure(command, Path.cwd(), runs, before=lambda: shutil.rmtree(target, ignore_errors=True))


def peers(folder: Path, root: Path, size: int, runs: int, cold: Measured) -> Iterator[str]:
    if (tool := shutil.which("kubeconform")) is None:
        yield "| kubeconform | not installed | | |"
    else:
        schemas = folder / "schemas"
        schemas.mkdir()
        location = write_catalog(schemas, Schemas(VERSION), kinds_of_jobs())
        command = [tool, "-strict", "-n", "2", "-schema-location", location, "rendered"]
        conform = measure(command, root, runs)
        yield row("kubeconform -strict -n 2, the same files", conform, cold)
        own = measure([*GEN, "validate", "rendered"], root, runs)
        yield row(f"gen validate, the same files ({own.wall / conform.wall:.2f} of kubeconform)", own, cold)
    kustomize = [tool] if (tool := shutil.which("kustomize")) else None
    kubectl = shutil.which("kubectl")
    builder = [*kustomize, "build"] if kustomize else [kubectl, "kustomize"] if kubectl else None
    if builder is None:
        yield "| kustomize | not installed | | |"
        return
    jobs = sorted(path for path in (root / "rendered").glob("*/jobs/*/*"))[:: max(1, size // SAMPLE)][:SAMPLE]
    total = [measure([*builder, str(kustomization(folder, path))], root, 1) for path in jobs]
    wall, cpu = sum(one.wall for one in total), sum(one.cpu for one in total)
    scaled = Measured(wall / len(jobs) * size, cpu / len(jobs) * size)
    yield row(f"kustomize build of each job, extrapolated from {len(jobs)}", scaled, cold)


def kustomization(folder: Path, job: Path) -> Path:
    """Write a kustomization of the files of a job, with labels that a platform would add."""
    target = folder / "kustomize" / job.name
    target.mkdir(parents=True)
    names = []
    for path in sorted(job.glob("*.yaml")):
        shutil.copy(path, target / path.name)
        names.append(f"  - {path.name}\n")
    labels = "labels:\n  - pairs: {team: a}\n"
    (target / "kustomization.yaml").write_text(f"resources:\n{''.join(names)}{labels}", "utf-8")
    return target


if __name__ == "__main__":
    main()
