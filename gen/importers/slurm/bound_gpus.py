"""GPUs of tasks: with `--gpus-per-task`, Slurm shows each task its own (man srun, `--gpu-bind`), and `mpirun` all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from gen.base import Findings
from gen.importers.draft import JobDraft
from gen.importers.slurm.expansion import marked
from gen.importers.slurm.options import Option, options_of
from gen.importers.slurm.processes import OF_SHELL, reads_none
from gen.importers.slurm.site import DEVICES, is_silent
from gen.importers.slurm.steps import Run

_NUMBER: Final = "gpus-per-task"
_SHARED: Final = ("gpu-bind", "gres-flags")
"""Options that can give tasks the GPUs of others."""


def with_own_gpus(draft: JobDraft, options: Sequence[Option], runs: Sequence[Run]) -> list[Run]:
    """The programs, with the GPU of each process by its number on the node."""
    return [_with_own_gpu(draft, options, one) for one in runs]


def _with_own_gpu(draft: JobDraft, options: Sequence[Option], run: Run) -> Run:
    of_step, _ = options_of([*run.options], run.place, Findings())
    last = {one.name: one for one in (*options, *of_step)}
    number = last.get(_NUMBER)
    if number is None or not run.by_srun or run.per_node == 1 or any(one in last for one in _SHARED):
        return run
    given = {*run.exported, *(name for name, _ in run.assigned)}
    is_program = run.words[:1] not in OF_SHELL and not (reads_none(run) or is_silent(run.words[0]))
    if run.launcher is not None or not is_program or DEVICES & given:
        return run
    if number.value.split(":")[-1] == "1":
        own = ("CUDA_VISIBLE_DEVICES", marked("$OMPI_COMM_WORLD_LOCAL_RANK"))
        return replace(run, assigned=(own, *run.assigned))
    hint = "set `CUDA_VISIBLE_DEVICES` by the rank in the program, if it takes the first GPUs"
    draft.drop(number.place, f"`--{_NUMBER}` for each task alone", "a process sees all GPUs of its pod", hint)
    return run
