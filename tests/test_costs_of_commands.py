"""Commands and scripts of 100 kB cost little time and memory, also if they repeat a part."""

from __future__ import annotations

import resource
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import pytest

from gen.base.findings import Findings, UsageError
from gen.importers import IMPORTERS, ImportInput

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


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        *("A{0}=x\npython a $A{0}\n", "A{0}=$(curl x)\necho $A{0}\n", "A=$(curl x)\necho $A\n", "export A{0}=x\n"),
        *("if [ -f a{0} ]; then A{0}=x; fi\n", "[ -f a{0} ] && export B{0}=$C\n", "echo x > a{0}\n", "cat a{0}\n"),
        *("srun -n1 --gpus=1 python a{0} &\n", "for i in a b; do python $i{0}; done\n", "f{0}() {{ a; }}\nf{0}\n"),
        *("cd a{0}\n", "A+=(x{0})\n", "cat > a{0} <<E\nx\nE\n", "(a{0})\n", "$A/$B{0}.c\n"),
    ],
)
def test_repeated_parts_of_a_batch_script_cost_little(unit: str) -> None:
    units = "".join(unit.format(number) for number in range(SIZE // (len(unit) + 4)))
    text = f"#!/bin/bash\n#SBATCH -N 1\n#SBATCH --gres=gpu:8\n{units}python b\n"
    before = time.process_time()
    with suppress(UsageError):
        list(IMPORTERS["slurm"]().read(ImportInput(file="a.sh", text=text, otherwise="a", image="a:1"), Findings()))
    assert time.process_time() - before < 2 * SECONDS


@pytest.mark.slow
def test_a_long_list_of_commands_costs_little() -> None:
    text = " && ".join(["echo a", "A=a", "arena a 'ü'"] * (SIZE // 32))
    before = time.process_time()
    list(IMPORTERS["arena"]().read(ImportInput(file="a.sh", text=text, otherwise="a", image="a:1"), Findings()))
    assert time.process_time() - before < 2 * SECONDS
