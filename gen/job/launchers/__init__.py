"""What each launcher in the command of a job starts. A launcher is a file with a table of its options, and a line here.

`gen.render.parts.command_checks` compares it with the pods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Final

from msgspec.structs import replace

from gen.base import Location, regex
from gen.base.shell_words import Word
from gen.job.launchers import accelerate, colossalai, deepspeed, horovodrun, mpirun, paddle, python, ray, torchrun
from gen.job.launchers.base import Launch, Launcher
from gen.job.script import SHELLS, Program, Script, read_script

LAUNCHERS: Final[tuple[Launcher, ...]] = tuple(
    module.LAUNCHER for module in (torchrun, accelerate, deepspeed, mpirun, horovodrun, colossalai, ray, paddle, python)
)
BY_PROGRAM: Final = {program: one for one in LAUNCHERS for program in one.programs}
_BY_MODULE: Final = {module: one for one in LAUNCHERS for module in one.modules}
MISTAKEN: Final = {name: module for one in LAUNCHERS for name, module in one.mistaken.items()}
"""Names that Python cannot run as modules, with those that are meant."""
_SHORTEST: Final = 6
LONG_NAMES: Final = frozenset(program for program in BY_PROGRAM if len(program) >= _SHORTEST)
"""Programs with names that are hardly words of a text, or similar to other programs."""

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
_RUNNERS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(("conda", "mamba", "micromamba"), frozenset({"-n", "-p", "--name", "--prefix", "--cwd"})),
    "uv": frozenset({"--python", "-p", "--with", "--extra", "--group", "--directory", "--project", "--env-file"}),
    **dict.fromkeys(("poetry", "pipenv", "pdm", "pixi", "rye", "hatch"), frozenset({"-e", "--environment"})),
}
"""Programs that run another one by `run`, and their options with a value."""
_MOST_LAUNCHERS: Final = 8
"""Depth of launchers that start each other; programs below it are unknown."""
_ASSIGNED: Final = regex(r"[A-Za-z_]\w*=")


def program_of(word: Word) -> str:
    """The name of a program without its folder; empty if it is unknown."""
    return word.text.rpartition("/")[2] if word.unknown is None else ""


def unwrapped(words: Sequence[Word]) -> tuple[Word, ...]:
    """The program that runs in the end, and its arguments, such as those behind `exec env LC_ALL=C`."""
    start = 0
    while start < len(words):
        program = program_of(words[start])
        runner = _RUNNERS.get(program) if start + 1 < len(words) and words[start + 1].text == "run" else None
        wrapper = (runner, 0) if runner is not None else _WRAPPERS.get(program)
        if wrapper is None:
            break
        values, positional = wrapper
        start += 1 if runner is None else 2
        while start < len(words) and (words[start].text.startswith("-") or _ASSIGNED.match(words[start].text)):
            start += 2 if words[start].text in values else 1
        start += positional
    return tuple(words[start:])


def launches(words: Sequence[Word]) -> tuple[Launch, ...]:
    """The launchers of a command, each started by the one before it."""
    found: list[Launch] = []
    words = unwrapped(words)
    while words and len(found) < _MOST_LAUNCHERS:
        program = program_of(words[0])
        launcher = python.LAUNCHER if python.is_python(program) else BY_PROGRAM.get(program)
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


INNER: Final = "a shell"
"""The environment of the programs of an inner script."""


def with_inner(script: Script, *, listed: bool = False) -> Script:
    """A script with the programs that its shells start, such as `bash -lc "…"`, instead of the shells.

    In a list, they are at the place of the entry.
    """
    if not any(word.text.endswith("sh") for one in script.programs for word in one.words):
        return script
    programs: list[Program] = []
    assigned = list(script.assignments)
    for program in script.programs:
        word = _inner(unwrapped(program.words))
        inner = with_inner(read_script(word.text)) if word is not None else None
        if word is None or inner is None or not inner.readable or not inner.programs:
            programs.append(program)
            continue
        around = (*program.around, INNER)

        def moved(one: Word, outer: Word = word) -> Word:
            return replace(one, place=outer.place if listed else _behind_quote(one.place, outer.place))

        for one in inner.programs:
            words = tuple(moved(each) for each in one.words)
            own = (replace(each, value=moved(each.value)) for each in one.assigned)
            within = (*around, *one.around)
            programs.append(Program(words, program.statement, within, (*program.assigned, *own)))
        assigned += (replace(one, value=moved(one.value)) for one in inner.assignments)
    return replace(script, programs=tuple(programs), assignments=tuple(assigned))


def _inner(words: Sequence[Word]) -> Word | None:
    """The script that a shell gets as an argument."""
    if not words or program_of(words[0]) not in SHELLS:
        return None
    options = takewhile(lambda word: word.text.startswith("-"), words[1:])
    if not any(word.text.endswith("c") and not word.text.startswith("--") for word in options):
        return None
    at = script_index([word.text for word in words])
    return words[at] if at < len(words) and words[at].unknown is None else None


def script_index(words: Sequence[str]) -> int:
    """Index of the script of a shell with `-c`, behind all its options, or the number of words; 0 without `-c`."""
    start = next((at for at, word in enumerate(words) if word.startswith("-") and word.endswith("c")), None)
    if start is None:
        return 0
    for at in range(start + 1, len(words)):
        if words[at] in ("-", "--"):
            return at + 1
        if not words[at].startswith(("-", "+")):
            return at
    return len(words)


def _behind_quote(inner: Location, start: Location) -> Location:
    """A place in a script, which begins behind a quote, in the script around it."""
    column = start.column + inner.column if inner.line == 1 else inner.column
    return Location("", start.line + inner.line - 1, column)
