"""Options of launchers besides those of gen: other numbers, a rendezvous, and hosts in texts of the shell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from gen.base.shell_script import nodes_below, syntax_tree
from gen.importers.draft import JobDraft
from gen.importers.slurm.bash_text import MAX_LEVELS
from gen.importers.slurm.expansion import marked, source_text
from gen.importers.slurm.site import OF_MACHINES, Layout
from gen.importers.slurm.steps import BACKEND, Options, Run, launcher_of, without_set
from gen.job.launchers import accelerate, base, mpirun

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


def _starts(run: Run) -> Iterator[Run]:
    """The starts of `mpirun` in a text, with their words as they are written."""
    top = syntax_tree(source_text(run.text).encode("utf-8", "replace"), MAX_LEVELS)
    for node in nodes_below(top, "command"):
        words = tuple((one.text or b"").decode("utf-8", "replace") for one in node.named_children)
        launcher, at = launcher_of(words)
        if launcher is mpirun.LAUNCHER:
            yield Run(words=words, place=run.place, launcher=launcher, at=at)


def starts_mpirun(run: Run) -> bool:
    """Whether a text of the shell starts `mpirun`."""
    return "mpi" in run.text and any(True for _ in _starts(run))


def on_hosts(draft: JobDraft, run: Run, layout: Layout) -> Run:
    """A text with each `mpirun` on the hosts of the job, which it knows by itself."""
    text = run.text
    for one in _starts(run):
        given = without_set(one)
        for option in given.left:
            draft.drop(run.place, f"`{source_text(option)[:60]}`", *OF_MACHINES)
        old = " ".join(one.words)
        new = old
        for option in (*given.left, *_of_hosts(given)):
            new = new.replace(f" {option}", "", 1)
        number = given.values.get(base.ALL_PROCESSES, ("", ""))[1]
        if number.isdecimal() and int(number[:6]) > layout.nodes * layout.per_node:
            start = " ".join(one.words[: one.at + 1])
            new = new.replace(start, f"{start} --oversubscribe", 1)
        text = text.replace(old, new)
    return replace(run, text=text)


def _of_hosts(given: Options) -> Iterator[str]:
    """The option that names the hosts of the script, in both of its forms."""
    name, value = given.values.get(base.HOSTS, ("", ""))
    if name:
        yield from (f"{name} {value}", f"{name}={value}")
