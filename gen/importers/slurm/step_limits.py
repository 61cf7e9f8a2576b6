"""Limits of one `srun`: a step is in those of its script, which the job has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gen.base import names
from gen.importers.slurm.allocation import seconds_of
from gen.importers.slurm.conditions import OF_FILES
from gen.importers.slurm.options import Option
from gen.importers.slurm.programs import BETWEEN, DroppedPart, Step
from gen.importers.slurm.script import BatchScript
from gen.importers.slurm.site import is_silent

_MEMORY: Final = names("mem mem-per-cpu mem-per-gpu")
_LIMITS: Final = _MEMORY | names("time cpus-per-task")
_OF_ONE: Final = "it is that of one program"
_OF_SCRIPT: Final = "the job has that of its script"
_HINTS: Final = {
    _OF_ONE: "write it as `#SBATCH`, if the job needs it",
    _OF_SCRIPT: "remove it, or import the program as a job of its own",
}
_TIMEOUT: Final = "write `timeout` in front of the program in `command`, if it needs the limit"


def in_limits(script: BatchScript, of_script: Sequence[Option], of_step: list[Option]) -> list[Option]:
    """The options of the training, without limits that would be those of all programs. Reports each."""
    given = {one.name: one.value for one in of_script}
    alone = sum(map(_is_program, script.steps)) <= 1
    lost = {one.name: why for one in of_step if (why := _why_lost(one, given, of_step, alone=alone))}
    script.left += _reported(of_step, lost, given)
    return [one for one in of_step if one.name not in lost]


def _is_program(step: Step) -> bool:
    """Whether a step takes time and memory."""
    first = step.words[:1]
    other = first in (*BETWEEN, ("cd",)) or bool({*first} & OF_FILES) or (first != () and is_silent(first[0]))
    return step.by_srun or not (step.sets or other)


def _why_lost(option: Option, given: dict[str, str], of_step: Sequence[Option], *, alone: bool) -> str:
    """Why the job does not have a limit of its training, if so."""
    if option.name not in _LIMITS:
        return ""
    one, kept = _OF_ONE, _OF_SCRIPT
    if option.name in _MEMORY:
        return kept if _MEMORY & given.keys() else "" if alone else one
    if option.name == "time":
        of_job, of_program = seconds_of(given.get("time", "")), seconds_of(option.value)
        is_longer = of_job is not None and of_program is not None and of_program > of_job
        return (kept if is_longer else "") if alone else kept if of_job is not None else one
    number, of_task = given.get(option.name, ""), option.value
    shrinks = number.isdecimal() and of_task.isdecimal() and int(of_task[:6]) < int(number[:6])
    sizes = any(other.name in ("ntasks", "nodes", "ntasks-per-node") for other in of_step)
    return kept if shrinks and not alone and not sizes else ""


def _reported(of_step: Sequence[Option], lost: dict[str, str], given: dict[str, str]) -> Iterator[DroppedPart]:
    for one in of_step:
        value = given.get(one.name, "")
        is_same = one.value == value or (one.name == "time" and seconds_of(one.value) == seconds_of(value))
        if one.name in lost and not is_same:
            hint = _TIMEOUT if one.name == "time" else _HINTS[lost[one.name]]
            yield DroppedPart(one.place, f"`--{one.name}` of `srun`", lost[one.name], hint)
