"""Options of a launcher for its processes, pods and rendezvous, where a job needs other ones than those of gen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gen.importers.slurm.expansion import marked
from gen.importers.slurm.steps import BACKEND, Options, Run, without_set
from gen.job.launchers import accelerate, base

_OF_POD: Final = (
    ("machine_rank", marked("$RANK")),
    ("main_process_ip", marked("$MASTER_ADDR")),
    ("main_process_port", marked("$MASTER_PORT")),
)
"""Options of `accelerate launch` with the values of a pod among others."""


def processes_of(given: Options) -> tuple[str, str]:
    """The option of a launcher for its processes as it is written, and their number on each pod, as far as known."""
    if base.ALL_PROCESSES not in given.values:
        return given.values.get(base.PROCESSES, ("", ""))
    option, every = given.values[base.ALL_PROCESSES]
    pods = given.values.get(base.PODS, ("", "1"))[1]
    known = every.isdecimal() and pods.isdecimal() and int(pods[:6]) and int(every[:6]) % int(pods[:6]) == 0
    return option, str(int(every[:6]) // int(pods[:6])) if known else every


def is_alone(run: Run, given: Options) -> bool:
    """Whether each task of `srun` has a training of its own, with the processes of its node."""
    return (
        run.by_srun
        and run.tasks > 1
        and (base.ALONE in given.values or given.values.get(base.PODS, ("", ""))[1] == "1")
    )


def _backend(run: Run, given: Options) -> str:
    """The rendezvous of `accelerate launch`, if it has another one than its default, or than that of its file."""
    backend = given.values.get(BACKEND, ("", ""))[1] if run.launcher is accelerate.LAUNCHER else ""
    return "" if backend == "static" and base.CONFIG not in given.values else backend


def with_processes(run: Run, given: Options, gpus: int, pods: int) -> list[str]:
    """A launcher with its numbers, if they are not those of the pods, or if a file with settings has others."""
    option, number = processes_of(given)
    backend = _backend(run, given)
    if backend and pods == 1:
        given = without_set(run, kept=(BACKEND,))
    start, rest = given.words[: run.at + 1], given.words[run.at + 1 :]
    if base.ALL_PROCESSES in given.values and (base.CONFIG in given.values or (backend and pods > 1)):
        if pods == 1:
            return without_set(run, kept=(base.ALL_PROCESSES, base.PODS, BACKEND)).words
        if number.isdecimal():  # the file can have other machines
            sizes = (("num_processes", str(int(number) * pods)), ("num_machines", str(pods)))
            of_pods = (*sizes, *_OF_POD, *(((BACKEND, backend),) if backend else ()))
            return [*start, *(word for name, value in of_pods for word in (f"--{name}", value)), *rest]
    usual = {str(gpus or 1), str(gpus * pods) if base.PODS not in given.values else ""}
    if not number.isdecimal() or number in usual:
        return given.words
    return [*start, f"{option}={number}", *rest]


def left_backend(run: Run, given: Options, words: Sequence[str]) -> str:
    """The option of `accelerate launch` for its rendezvous, if the words of the job do not have it."""
    backend = _backend(run, given)
    return f"--{BACKEND}={backend}" if backend and f"--{BACKEND}" not in " ".join(words) else ""
