"""Benchmark `gen validate` on real manifests beside kubeconform: `python -m bench.real FOLDER…`.

Both check the kinds that gen has schemas of, against the same schemas, and skip others. The two run in turn.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.__main__ import GEN
from bench.catalog import write_catalog
from bench.measure import Measured, measure, peak_memory
from gen.kubernetes.manifests.files import named_files
from gen.kubernetes.schemas.registry import Schemas, versions

if TYPE_CHECKING:
    from collections.abc import Iterator


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--policy", type=Path, help="validate a second time with the policies in a file or folder")
    parser.add_argument("--runs", type=int, default=3, help="number of runs; the best one counts")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for line in report(Path(folder), arguments.folders, arguments.policy, arguments.runs):
            print(line, flush=True)


def report(catalog: Path, folders: list[Path], policy: Path | None, runs: int) -> Iterator[str]:
    """The rows of a table; ratios are of gen to kubeconform, or of gen with policies to gen without."""
    tool = shutil.which("kubeconform")
    schemas = Schemas(versions()[-1])
    location = write_catalog(catalog, schemas, sorted(schemas.kinds()))
    yield "| manifests | program | wall | CPU | memory | ratio of wall, CPU, memory |"
    yield "|---|---|---|---|---|---|"
    for folder in folders:
        files = list(named_files([str(folder)]))
        what = f"{len(files)} files, {sum(map(os.path.getsize, files)) >> 20} MiB in `{folder.name}`"
        gen = [*GEN, "validate", "--ignore-missing-schemas", str(folder.resolve())]
        own = _measured(gen, runs)
        other = None
        if tool is not None:
            conform = [tool, "-strict", "-n", "2", "-ignore-missing-schemas", "-schema-location", location]
            other = _measured([*conform, str(folder.resolve())], runs)
            yield _row(what, "kubeconform", other, None)
        yield _row(what, "gen", own, other)
        if policy is not None:
            yield _row(
                what, f"gen --policy {policy.name}", _measured([*gen, "--policy", str(policy.resolve())], runs), own
            )


def _measured(command: list[str], runs: int) -> tuple[Measured, int]:
    """Times, and peak memory of all processes in MiB."""
    home = Path.home()  # neither a repository of gen nor the source
    return measure(command, home, runs, check=False), peak_memory(command, home) >> 20


def _row(what: str, program: str, measured: tuple[Measured, int], other: tuple[Measured, int] | None) -> str:
    (times, memory), ratios = measured, ""
    if other is not None:
        beside, memory_beside = other
        ratios = f"{times.wall / beside.wall:.2f}, {times.cpu / beside.cpu:.2f}, {memory / max(memory_beside, 1):.2f}"
    return f"| {what} | {program} | {times.wall:.2f} s | {times.cpu:.2f} s | {memory} MiB | {ratios} |"


if __name__ == "__main__":
    main()
