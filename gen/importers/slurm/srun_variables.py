"""Variables that `srun` reads as its options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gen.importers.slurm.options import REASONS
from gen.importers.slurm.programs import DroppedPart, Step
from gen.importers.slurm.script import BatchScript
from gen.importers.slurm.site import OF_HOSTS
from gen.importers.slurm.srun import set_at

_OPTIONS: Final[Mapping[str, str]] = {
    **{
        f"SLURM_{one.upper().replace('-', '_')}": one
        for one in ("cpu-bind", "mem-bind", "gpu-bind", "gpu-freq", "distribution", "hint", "overcommit", "wait")
    },
    "SLURM_KILL_BAD_EXIT": "kill-on-bad-exit",
    "SLURM_LABELIO": "label",
    "SLURM_MPI_TYPE": "mpi",
    "SLURM_UNBUFFEREDIO": "unbuffered",
}
_OF_CPUS: Final = "SRUN_CPUS_PER_TASK"
_HOSTS: Final = "SLURM_HOSTFILE"
NAMES: Final = frozenset({*_OPTIONS, _OF_CPUS, _HOSTS})


def options_in_variables(script: BatchScript, step: Step) -> Iterator[DroppedPart]:
    """The variables of a program that `srun` reads, and that set something else than the script does."""
    given = {**step.exported, **dict(step.assigned)}
    for name in sorted(NAMES & given.keys()):
        if name == _OF_CPUS and given[name] == script.constants.get("SLURM_CPUS_PER_TASK"):
            continue
        reason = REASONS[_OPTIONS[name]] if name in _OPTIONS else OF_HOSTS
        if name == _OF_CPUS:
            reason = "the job has the CPUs of the options of the script", "set `cpu` of the job"
        yield DroppedPart(set_at(script, name, step.place), f"the variable `{name}`", *reason)
