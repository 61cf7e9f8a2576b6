"""Numbers of pods and processes, and GPUs, of which a script gives its programs other ones than the pods of the job.

With `--gpus-per-task`, Slurm shows each task its own GPU (man srun, `--gpu-bind`), and `mpirun` all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from gen.base import Findings
from gen.importers.draft import JobDraft
from gen.importers.slurm.expansion import marked
from gen.importers.slurm.options import Option, options_of
from gen.importers.slurm.processes import OF_SHELL, reads_none
from gen.importers.slurm.site import DEVICES, OF_KIND, is_silent
from gen.importers.slurm.steps import RENDEZVOUS, Run
from gen.job.kinds import ALL_KINDS


def with_numbers(draft: JobDraft, run: Run) -> Run:
    """A program without a launcher, with the ranks and numbers of processes in front of it that its pod lacks."""
    kind, several = draft.fields["kind"], "workers" in draft.fields
    if kind == "mpi" or run.text or run.launcher is not None:
        return run
    workers, rank = str(draft.fields.get("workers", 1)), marked("$RANK")
    of_pod = {"RANK": rank, "WORLD_SIZE": workers, "NODE_RANK": rank, "NNODES": workers} if several else {}

    def differs(name: str, value: str) -> bool:
        if name in RENDEZVOUS:
            return several and value in ("localhost", "127.0.0.1")
        lacks = f"PET_{name}" in ALL_KINDS[kind].reserved_env
        return name in OF_KIND and (lacks or value != of_pod.get(name))

    given = {} if reads_none(run) or run.words[:1] in OF_SHELL else run.exported
    names = sorted(OF_KIND & given.keys() - dict(run.assigned).keys())
    own = [(name, str(given[name])) for name in names if name.endswith(("SIZE", "NNODES"))]
    own = [one for one in own if one[1].isdecimal() and (several or one[1] != "1")]  # that of one pod
    return replace(run, numbers=tuple(one for one in (*own, *run.assigned) if differs(*one)))


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
