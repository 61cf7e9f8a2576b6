"""Commands of jobs: the programs that they run, and what each launcher starts. A launcher is a file and a line here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gen.base.regex import regex
from gen.base.shell_words import Word
from gen.job.commands import accelerate, colossalai, deepspeed, horovodrun, mpirun, python, ray, torchrun
from gen.job.commands.base import Launch, Launcher

LAUNCHERS: Final[tuple[Launcher, ...]] = (
    torchrun.LAUNCHER,
    accelerate.LAUNCHER,
    deepspeed.LAUNCHER,
    mpirun.LAUNCHER,
    horovodrun.LAUNCHER,
    colossalai.LAUNCHER,
    ray.LAUNCHER,
    python.LAUNCHER,
)
_BY_PROGRAM: Final = {program: one for one in LAUNCHERS for program in one.programs}
_BY_MODULE: Final = {module: one for one in LAUNCHERS for module in one.modules}

_WRAPPERS: Final[Mapping[str, tuple[frozenset[str], int]]] = {
    **dict.fromkeys(("exec", "nohup", "time", "command", "setsid", "unbuffer", "tini", "dumb-init"), (frozenset(), 0)),
    "env": (frozenset({"-u", "-C", "--unset", "--chdir"}), 0),
    "sudo": (frozenset({"-u", "-g"}), 0),
    "nice": (frozenset({"-n"}), 0),
    "ionice": (frozenset({"-c", "-n"}), 0),
    "stdbuf": (frozenset({"-i", "-o", "-e"}), 0),
    "timeout": (frozenset({"-k", "-s"}), 1),
    "numactl": (frozenset({"-N", "-m", "-C", "-i", "-p"}), 0),
    "taskset": (frozenset(), 1),
}
"""Programs that run another one: their options with a value, and the number of words before the program."""
_ASSIGNED: Final = regex(r"[A-Za-z_]\w*=")


def program_of(word: Word) -> str:
    """The name of a program without its folder; empty if it is unknown."""
    return word.text.rpartition("/")[2] if word.unknown is None else ""


def unwrapped(words: Sequence[Word]) -> tuple[Word, ...]:
    """The program that runs in the end, and its arguments, such as those behind `exec env LC_ALL=C`."""
    words = tuple(words)
    while words and (wrapper := _WRAPPERS.get(program_of(words[0]))) is not None:
        values, positional = wrapper
        at = 1
        while at < len(words) and (words[at].text.startswith("-") or _ASSIGNED.match(words[at].text)):
            at += 2 if words[at].text in values else 1
        words = words[at + positional :]
    return words


def launches(words: Sequence[Word]) -> tuple[Launch, ...]:
    """The launchers of a command, each started by the one before it."""
    found: list[Launch] = []
    words = unwrapped(words)
    while words:
        program = program_of(words[0])
        launcher = python.LAUNCHER if python.is_python(program) else _BY_PROGRAM.get(program)
        launch = launcher.read(words) if launcher is not None else None
        if launch is None:
            break
        if launch.is_module and launch.program and launch.launcher is python.LAUNCHER:
            of_module = _BY_MODULE.get(launch.program[0].text)
            launch = (of_module.read_options(launch.program, 1) if of_module is not None else None) or launch
        found.append(launch)
        starts_program = launch.launcher.starts_programs or "no_python" in launch.options
        words = unwrapped(launch.program) if starts_program else ()
    return tuple(found)
