"""Benchmark a sweep with other jobs: `python -m bench.sweep [JOBS]`."""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.__main__ import GEN
from bench.measure import Measured, measure
from bench.repository import JOB, make_repository

if TYPE_CHECKING:
    from collections.abc import Iterator

RUNS = (0, 64, 128, 256)
SWEPT = JOB.replace("--epochs 10", "--epochs {{{{ params.epochs }}}} --width {{{{ params.width }}}}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jobs", nargs="?", type=int, default=1000, help="other jobs")
    parser.add_argument("--runs", type=int, default=3, help="number of measurements; the best one counts")
    parser.add_argument("--folder", type=Path, help="working directory; use a tmpfs to exclude the disk")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for line in report(Path(folder), arguments.jobs, arguments.runs):
            print(line, flush=True)


def report(folder: Path, jobs: int, runs: int) -> Iterator[str]:
    root = folder / "repository"
    make_repository(root, jobs)
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")

    def clean() -> None:
        shutil.rmtree(root / "rendered", ignore_errors=True)
        shutil.rmtree(folder / "cache", ignore_errors=True)

    alone: Measured | None = None
    yield f"| runs beside {jobs} jobs | cold render, wall | CPU | CPU of one run | check, wall | CPU | of the cold |"
    yield "|---|---|---|---|---|---|---|"
    for count in RUNS:
        write_sweep(root, count)
        cold = measure([*GEN, "render"], root, runs, before=clean)
        check = measure([*GEN, "check"], root, runs)
        alone = alone or cold
        each = f"{(cold.cpu - alone.cpu) / count * 1000:.1f} ms" if count else ""
        numbers = f"{cold.wall:.3f} s | {cold.cpu:.3f} s | {each} | {check.wall:.3f} s | {check.cpu:.3f} s"
        yield f"| {count} | {numbers} | {check.cpu / cold.cpu:.2f} |"


def write_sweep(root: Path, count: int) -> None:
    """A job with so many runs, a multiple of 16; none for 0."""
    path = root / "jobs/team-0/swept.yaml"
    if not count:
        return
    matrix = f"epochs: {list(map(str, range(count // 16)))}, width: {list(map(str, range(16)))}"
    text = SWEPT.format(kind="pytorch", index=0, workers=4, network="pod")
    path.write_text(f"{text}sweep:\n  max: {count}\n  matrix: {{{matrix}}}\n".replace("'", '"'), "utf-8")


if __name__ == "__main__":
    main()
