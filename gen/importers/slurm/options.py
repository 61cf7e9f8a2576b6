"""Options of `sbatch` and `srun` (`doc/man/man1` of Slurm 25.05)."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gen.diagnostics import Location
from gen.findings.imports import INVALID_COMMAND_LINE, NOT_CARRIED
from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Findings

SHORT: Final = {
    "A": "account", "a": "array", "B": "extra-node-info", "b": "begin", "C": "constraint", "c": "cpus-per-task",
    "D": "chdir", "d": "dependency", "e": "error", "F": "nodefile", "G": "gpus", "H": "hold", "i": "input",
    "J": "job-name", "k": "no-kill", "L": "licenses", "l": "label", "M": "clusters", "m": "distribution", "N": "nodes",
    "n": "ntasks", "O": "overcommit", "o": "output", "p": "partition", "Q": "quiet", "q": "qos", "S": "core-spec",
    "s": "oversubscribe", "t": "time", "u": "unbuffered", "v": "verbose", "W": "wait", "w": "nodelist", "x": "exclude",
}  # fmt: skip
SWITCHES: Final = frozenset(
    {"contiguous", "container-mount-home", "container-writable", "disable-status", "exact", "exclusive", "get-user-env"}
    | {"hold", "ignore-pbs", "label", "mpi-combine", "multi-prog", "no-container-mount-home", "no-kill", "no-requeue"}
    | {"overcommit", "overlap", "oversubscribe", "parsable", "preserve-env", "pty", "quiet", "requeue", "spread-job"}
    | {"test-only", "unbuffered", "use-min-nodes", "verbose", "wait"}
)
"""Options without a value of their own; a value after `=` is one, too."""
_DIRECTIVE: Final = regex(r"#SBATCH\s+(.*)")
_NEXT_COMPONENT: Final = ("hetjob", "packjob")
"""Lines between the components of a heterogeneous job. `srun` starts the first one by default."""
_COMMENT: Final = regex(r"(?:^|\s)#.*")
MAX_LINES: Final = 10_000


class Option(Struct, frozen=True):
    """A value of an option, and its place."""

    name: str
    value: str
    place: Location


def directives(text: str, file: str, found: Findings) -> tuple[list[Option], int]:
    """Options of the `#SBATCH` lines, and the number of lines before the first command: Slurm ignores later ones."""
    options: list[Option] = []
    first = True
    lines = text.split("\n")[:MAX_LINES]
    for number, line in enumerate(lines):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            return options, number
        if (match := _DIRECTIVE.match(stripped)) is None:
            continue
        if match[1].strip() not in _NEXT_COMPONENT:
            options += parsed(match[1], Location(file, number + 1), found) if first else ()
        elif first:
            first = False
            hint = "write another job, or a role of this one, for the options below it"
            message = f"`{match[1].strip()}` is not carried: the job has the options above it"
            found.warning(NOT_CARRIED, Location(file, number + 1), message, hint)
    return options, len(lines)


def parsed(text: str, place: Location, found: Findings) -> Iterator[Option]:
    """Options in a line."""
    try:
        words = shlex.split(_COMMENT.sub("", text))
    except ValueError:
        found.error(INVALID_COMMAND_LINE, place, "a quote is not closed", "close it")
        return
    options, left = options_of(words, place, found)
    if left:
        hint = "write the name of an option with `--`"
        found.warning(NOT_CARRIED, place, f"`{left[0]}` is not carried: it is not an option", hint)
    yield from options


def options_of(words: list[str], place: Location, found: Findings) -> tuple[list[Option], list[str]]:
    """Options at the start of a command, and its other words."""
    options: list[Option] = []
    left = list(words)
    while left and left[0].startswith("-") and left[0] != "-":
        word = left.pop(0)
        if word == "--":
            break
        name, value, needs = name_of(word)
        if needs and not left:
            found.error(INVALID_COMMAND_LINE, place, f"`{word}` has no value", "add it")
            break
        options.append(Option(name, left.pop(0) if needs else value, place))
    return options, left


def name_of(word: str) -> tuple[str, str, bool]:
    """Name and value of an option, and whether the next word is its value."""
    if word.startswith("--"):
        name, equals, value = word[2:].partition("=")
        return name, value, not equals and name not in SWITCHES
    name = SHORT.get(word[1:2], word[1:2])
    rest = word[2:].removeprefix("=")
    return name, rest, not rest and name not in SWITCHES
