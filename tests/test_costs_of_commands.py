"""Commands of 100 kB cost little time and memory, also if they repeat a part."""

from __future__ import annotations

import resource
import time
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from tests.support import Repository

SIZE: Final = 98_000
SECONDS: Final = 5
"""Processor time on a loaded machine; each takes less than two on an idle one."""
KIBIBYTES: Final = 300 << 10
REPEATED: Final = (
    "a | ",
    "a && ",
    "a || ",
    "a;",
    "a & ",
    "a \\\n",
    "a #\n",
    "a\n  --b\n",
    "A=1 ",
    "A=$A$A; ",
    "export A=$B; ",
    "cd /a; ",
    "env ",
    "exec ",
    "nohup ",
    "mpirun -np 8 ",
    "accelerate launch ",
    "torchrun --nproc_per_node=8 a.py; ",
    "srun a; ",
    "cd x && srun a; ",
    "python t.py --output-dir /results; ",
    "python -m torch.distributed.run ",
    "--password x ",
    "set -e; ",
    "if a; then b; fi; ",
    "for i in a; do b; done; ",
    "f() { a; }; ",
    "cat <<E\nE\n",
    "bash -c 'a'; ",
    ">a ",
    "(",
    "$(",
    "`",
    "'a'",
    "*?[a]",
)


@pytest.mark.slow  # a minute together
@pytest.mark.parametrize("unit", REPEATED)
def test_repeated_parts_cost_little(repo: Repository, unit: str) -> None:
    repo.overlay('kubernetes: "1.34"\n')
    lines = (unit * (SIZE // len(unit))).split("\n")
    text = "".join(f"  {line}\n" for line in lines)
    repo.job(f"kind: pytorch\nimage: a:1\ngpus: 8\nworkers: 2\ncommand: |\n{text}")
    seconds, memory = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    repo.render()
    assert time.process_time() - seconds < SECONDS
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < KIBIBYTES
