"""Wall time, CPU time and memory of commands."""

from __future__ import annotations

import os
import resource
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds."""

    wall: float
    cpu: float


def measure(
    command: list[str], cwd: Path, runs: int, before: Callable[[], None] = lambda: None, *, check: bool = True
) -> Measured:
    """Measure the best of several runs; interference only makes a run longer.

    CalledProcessError if a run fails, unless its exit code is not checked.
    """
    best: Measured | None = None
    for _ in range(runs):
        before()
        used = _cpu()
        start = time.perf_counter()
        subprocess.run(command, cwd=cwd, env=environment(), stdout=subprocess.DEVNULL, check=check)
        measured = Measured(time.perf_counter() - start, _cpu() - used)
        if best is None or measured.wall < best.wall:
            best = measured
    assert best is not None
    return best


def peak_memory(command: list[str], cwd: Path) -> int:
    """Peak memory of the command and all its children in bytes; shared pages count once."""
    peak = 0
    with subprocess.Popen(command, cwd=cwd, env=environment(), stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, sum(proportional(pid) for pid in family(process.pid)))
            time.sleep(0.01)
    return peak


def environment() -> dict[str, str]:
    """Environment to run this project in other folders, with compiled modules as in an installation."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": str(Path(__file__).parent.parent)}


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def family(pid: int) -> list[int]:
    """A process and all that it started."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split()
    except OSError:
        return []
    return [pid, *(inner for child in children for inner in family(int(child)))]


def proportional(pid: int) -> int:
    """The memory of a process in bytes, with its part of shared pages."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text("utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:")), 0)
