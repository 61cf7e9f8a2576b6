"""Variables that the batch part exports: in `env` of the job, in lines of its command, or in front of a program."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Final

from msgspec.structs import replace

from gen.base import Location, regex
from gen.base.shell_script import assigned_in
from gen.importers.draft import JobDraft, literal
from gen.importers.slurm.apptainer import of_container
from gen.importers.slurm.bash_text import cut
from gen.importers.slurm.expansion import CLOSE, OPEN, RUN, RUN_ID, is_known, marked, shown, sources
from gen.importers.slurm.options import Option
from gen.importers.slurm.programs import BETWEEN, VARIABLE, Step, lacking_steps
from gen.importers.slurm.script import BatchScript
from gen.importers.slurm.site import (
    ACTIVATE,
    DEVICES,
    OF_KIND,
    OF_MACHINES,
    OF_OTHER_GPUS,
    TASK,
    is_of_machines,
    selects_gpus,
)
from gen.importers.slurm.srun import READ, exported_by, why_of_machines, why_of_part
from gen.importers.slurm.srun_variables import NAMES as OF_SRUN
from gen.importers.slurm.steps import RENDEZVOUS, Run, as_run, is_of_pod
from gen.job.kinds import ALL_KINDS
from gen.job.launchers import deepspeed, mpirun

_OF_NODES: Final = ("NNODES", "NODE_RANK")
"""Variables that a kind may set for `torchrun` only."""
_ACTIVATES: Final = regex(rf"(?<![\w./-])(?:source|\.)\s+\S*{ACTIVATE}\b")
_TEMPLATES: Final = regex(rf"({re.escape(RUN)}|{re.escape(TASK)})")


def variables(draft: JobDraft, script: BatchScript, runs: list[Run]) -> list[Run]:
    """Set the variables that the batch part exports. Returns the programs, behind those that only a pod knows."""
    of_mpi, reserved = draft.fields["kind"] == "mpi", ALL_KINDS[draft.fields["kind"]].reserved_env
    for name, place in script.exported.items():
        value = script.variables.get(name)
        value = script.drawn.get(name, value) if value == marked(f"${name}") else value
        in_text = value == marked(f"${name}") and any(one.text.startswith(f"export {name}=") for one in runs)
        runs = [_passing_on(name, one) for one in runs] if in_text and of_mpi else runs
        if value is None or in_text or _has_own(name, str(value), script, reserved, of_mpi=of_mpi):
            _report_own(draft, name, str(value), place, runs)
            continue
        text = value if isinstance(value, str) else " ".join(value)
        if is_of_machines(name) and not selects_gpus(name, text, int(draft.fields.get("gpus", 0))):
            draft.drop(place, f"the variable `{name}`", *(OF_OTHER_GPUS if selects_gpus(name, text) else OF_MACHINES))
        elif name in (*reserved, "NODE_RANK"):
            own = ("a pod has one of its own", "pass the value by another name")
            of_rank = ("a pod has its number in `$RANK`", READ)
            draft.drop(place, f"the variable `{name}`", *(own if name in reserved else of_rank))
        elif is_part(name, text, script, runs):
            draft.drop(place, f"the variable `{name}`", *why_of_part(text))
        elif is_known(text):
            draft.variable(name, text, place)
        elif is_known(text.replace(RUN, "").replace(TASK, "")):
            parts = (literal(one) if is_known(one) else one[1:-1] for one in _TEMPLATES.split(text))
            draft.set("".join(parts), "env", name, place=place)
        elif text != marked(f"${name}") and _is_of_shell(name, text, script, runs, of_mpi=of_mpi):
            first = _first_needing(name, text, runs)
            runs = [*runs[:first], *(_passing_on(name, one) if of_mpi else one for one in runs[first:])]
            line = Run(
                text=f"export {name}={shown(text)}", place=place, folder=runs[first].folder, entered=runs[first].entered
            )
            before = lacking_steps(script.steps, runs, line.text, place.line)
            runs = [*runs[:first], *map(as_run, before), line, *runs[first:]]
        elif not name.startswith("SLURM_"):
            draft.drop(place, f"the variable `{name}`", *why_of_machines(script, name))
    return _behind_environment(runs) if of_mpi else runs


def _behind_environment(runs: Sequence[Run]) -> list[Run]:
    """The programs, with the virtual environment that the shell of `mpirun` has activated before."""
    made, active = list[Run](), False
    for run in runs:
        active = active or (not run.by_srun and _ACTIVATES.search(run.text) is not None)
        made.append(_passing_on("PATH", _passing_on("VIRTUAL_ENV", run)) if active else run)
    return made


def carry_export(draft: JobDraft, options: Sequence[Option]) -> None:
    """Set the variables of `--export` of the script."""
    for option in (one for one in options if one.name == "export"):
        for name, text in exported_by([option]).items():
            draft.variable(name, text, option.place)
        for name in (one for one in option.value.split(",") if "=" not in one and one not in ("NONE", "NIL")):
            hint = "write the variables that the job needs as `env`"
            draft.drop(option.place, f"`--export={name}`", "a pod does not have the environment of the user", hint)


def _has_own(name: str, value: str, script: BatchScript, reserved: Collection[str], *, of_mpi: bool) -> bool:
    """Whether the pods of a job have a value of their own for a variable, or read it from a Secret."""
    of_kind = name in OF_KIND and (not of_mpi or name in RENDEZVOUS)
    of_kind = of_kind and not (name in _OF_NODES and f"PET_{name}" in reserved)
    of_kind = of_kind or (of_mpi and is_of_process(name, value))
    of_kind = of_kind or (name in reserved and value in ("0", marked("$RANK")))  # the number of the pod
    of_kind = of_kind or (of_container(name) and bool(script.images))  # whose programs have it
    of_kind = of_kind or name in OF_SRUN  # which has a finding
    return of_kind or name in script.secrets or (name.startswith("SLURM_") and is_known(value))


def _report_own(draft: JobDraft, name: str, value: str, place: Location, runs: Sequence[Run]) -> None:
    """Report a value that a program without a launcher reads, and of which the pods of a job have another one."""
    workers = str(draft.fields.get("workers", 1))
    of_one = workers == "1" and value == ("1" if name.endswith("SIZE") else "0")
    is_same = (
        of_one
        or (name in ("NNODES", "WORLD_SIZE") and value == workers)
        or value in ("", "localhost", "127.0.0.1")
        or not is_known(value)
        or name not in OF_KIND
    )
    others = (one for one in runs if one.launcher is None and name not in dict(one.numbers))
    is_read = any(one.words and one.words[:1] not in BETWEEN for one in others)
    if is_read and not is_same and draft.fields["kind"] != "mpi":
        hint = "pass it to the program as an argument, if it needs it"
        draft.drop(place, f"the value `{cut(value)}` of `{name}`", "a pod has one of its own, or none", hint)


def _is_of_shell(name: str, text: str, script: BatchScript, runs: Sequence[Run], *, of_mpi: bool) -> bool:
    """Whether the shell of a pod knows a value, or that of the launcher, as part of its image or from another line of
    the command, if each `mpirun` of the job can pass it on.
    """
    if not of_mpi:
        return is_of_pod(text, {name, *script.from_text, *script.indexed})
    others = any(one.launcher is deepspeed.LAUNCHER or "mpirun" in one.text for one in runs)
    read = {*VARIABLE.findall("".join(sources(text)))}
    return not others and "$(" not in text and (read == {name} or read <= {RUN_ID, *script.from_text})


def _passing_on(name: str, run: Run) -> Run:
    """A program with a variable of the launcher's shell, if `mpirun` starts it."""
    starts = run.launcher is mpirun.LAUNCHER or run.words[:1] == ("mpirun",)
    has_own = any(one.partition("=")[0] == name for one in run.words)
    words = (*run.words[: run.at + 1], "-x", name, *run.words[run.at + 1 :])
    return replace(run, words=words) if starts and not has_own else run


def is_part(name: str, text: str, script: BatchScript, runs: Sequence[Run]) -> bool:
    """Whether the command or its container has the value of a variable, such as that of options, and no program."""
    used = regex(rf"\$\{{?{name}\b")
    is_address = {*sources(text)} <= {"$MASTER_ADDR", "$MASTER_PORT"} and not is_known(text)
    texts = (*(part for one in runs for part in (*one.words, one.text)), *(one for one, _ in script.files.values()))
    programs = {
        word for one in runs for word in one.words if word == one.words[one.at] or word.endswith((".py", ".sh"))
    }
    plain = re.sub(f"{OPEN}[^{CLOSE}]*{CLOSE}", "", text)
    is_part = is_address or len(plain.split()) > 1 or {*text.split(",")} <= programs | script.container_words
    return is_part and used.search(script.source) is not None and not any(map(used.search, texts))


def is_of_process(name: str, value: str) -> bool:
    """Whether only the shell of each process of MPI knows the value of a variable."""
    return "OMPI_COMM_WORLD" in value or (name in OF_KIND | DEVICES and not is_known(value))


def _first_needing(name: str, text: str, steps: Sequence[Step]) -> int:
    """The number of the first program, or output of one, that gets an exported variable, behind what sets its value."""
    lines = [number for number, one in enumerate(steps) if one.sets in {*VARIABLE.findall(text)} - {name}]
    late = max(lines, default=-1) + 1
    needs = (number for number, one in enumerate(steps) if name in one.exported and (not one.sets or "$(" in one.text))
    return next((number for number in needs if number >= late), 0)


def set_once(draft: JobDraft, runs: Sequence[Run], arrays: Sequence[Run]) -> list[Run]:
    """The programs without lines that set an array or a variable of `env` again."""
    again = [
        bool(one.text) and one.text == before.text and one.text.startswith("export ") for before, one in pairwise(runs)
    ]
    runs = [one for one, is_again in zip(runs, [False, *again], strict=True) if not is_again]
    known, sets = {one.text for one in arrays}, Counter(name for one in runs for name in assigned_in(one.text))
    for name, value in draft.fields.get("env", {}).items():
        text = shown(str(value).replace("{{ run.id }}", RUN))
        known |= {f"export {name}={text}"} if sets[name] == 1 else set()
    return [one for one in runs if one.words or one.text not in known]
