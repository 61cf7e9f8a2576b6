"""Programs that a script and the pods of its job start in a sandbox, and whether two of them are the same."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from gen.base import Location, regex
from gen.importers import ImportedJob
from gen.importers.sandbox import HOME, Record, Recording
from gen.importers.slurm.launcher_pod import DEFAULT_PORT
from gen.importers.slurm.steps import Run, launcher_of, without_set
from gen.job.launchers import mpirun

SHOWN: Final = 100
"""Most characters of a program in a message."""
_WORD: Final = regex(r"[A-Za-z0-9]+")
_NUMBER: Final = regex(r"[._-]*(?:31313|24242)")  # the ids in names of files
_NOTHING: Final = ("", "")


class Program(Struct, frozen=True):
    """A record in both runs, without the options of a launcher that gen sets."""

    record: Record
    words: tuple[tuple[str, str], ...]
    env: Mapping[str, tuple[str, str]]
    processes: str


def both(recordings: Sequence[Recording]) -> list[Program]:
    """The programs in the order of the first run; the second one has the same, or none. Those in the background
    can have another order in it.
    """
    first, second = recordings
    others: dict[int, list[Record]] = {}
    for one in second.records:
        others.setdefault(one.task, []).append(one)
    programs = []
    for one in first.records:
        queue = others.get(one.task) or [one]
        same = max(queue, key=lambda other: _likeness(one.words, other.words))
        queue.remove(same)
        programs.append(_program(one, same))
    return programs


def _likeness(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[bool, bool, int]:
    return one[:1] == other[:1], len(one) == len(other), sum(a == b for a, b in zip(one, other, strict=False))


def _program(first: Record, second: Record) -> Program:
    words, processes = _reduced(first.words)
    others, _ = _reduced(second.words)
    others = others if len(others) == len(words) else words
    env = {name: (value, second.env.get(name, value)) for name, value in first.env.items()}
    return Program(first, tuple(zip(words, others, strict=True)), env, processes)


def _reduced(words: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    launcher, place = launcher_of(words)
    if launcher is None:
        return words, ""
    given = without_set(Run(words=words, place=Location(""), launcher=launcher, at=place))
    kept = [one for one in given.words if one != "--oversubscribe"]
    while launcher is mpirun.LAUNCHER and kept[place + 1 : place + 2] == ["-x"] and "=" not in kept[place + 2]:
        del kept[place + 1 : place + 3]  # the operator sets the variable
    return tuple(kept), given.processes


def nearest(program: Program, others: Sequence[Program]) -> Program | None:
    """The same program with the most equal arguments."""
    same = (one for one in others if one.words[:1] == program.words[:1])
    return max(same, key=lambda one: len({*one.words} & {*program.words}), default=None)


def first_difference(job: ImportedJob, one: Program, other: Program) -> tuple[str, str] | None:
    """The first values that are not the same; None if all are."""
    if len(one.words) != len(other.words):
        pairs = zip([*one.words, _NOTHING], [*other.words, _NOTHING], strict=False)
        return next(((a[0], b[0]) for a, b in pairs if a != b), _NOTHING)
    for number, (mine, theirs) in enumerate(zip(one.words, other.words, strict=True)):
        if not _equal(mine, theirs, one.record.folder, other.record.folder, job, number):
            return mine[0], theirs[0]
    for name, value in ((name, value) for name, value in one.env.items() if value[0]):  # not those that are set later
        if not _equal(value, other.env.get(name, ("", "")), one.record.folder, other.record.folder, job, 1):
            return f"{name}={value[0]}", f"{name}={other.env.get(name, ('', ''))[0]}"
    gpus = str(job.fields.get("gpus", ""))
    wanted, made = one.processes, other.processes or gpus
    if wanted.isdecimal() and made and wanted != made and one.words[0][0] != "mpirun":
        return f"{wanted} processes", f"{made} processes"
    return None


def _equal(
    mine: tuple[str, str], theirs: tuple[str, str], folder: str, other: str, job: ImportedJob, number: int
) -> bool:
    """Whether a value means the same in the two folders of the script and of the pod."""
    a, b = mine[0], theirs[0]
    name = _NUMBER.sub("", a.rpartition("/")[2])
    if b.rpartition("/")[2] == name and any(b.rstrip("}").endswith(path) for path in job.fields.get("files", {})):
        return True
    if mine[0] != mine[1]:
        if theirs == (re.sub(r"[0-9]+$", DEFAULT_PORT, mine[0]),) * 2:
            return True  # the pods of a run have their ports for themselves
        return theirs[0] != theirs[1] and _fixed([one.replace(HOME, "") for one in mine]) <= _fixed(theirs)
    if theirs[0] != theirs[1]:
        return False
    if a == b:
        return number > 0 or "/" not in a or a.startswith("/") or folder == other
    places = [posixpath.normpath(f"/.{posixpath.join(*pair)}") for pair in ((folder, a), (other, b))]
    return places[0] == places[1] or a.replace(HOME, posixpath.relpath(HOME, other)) == b


def _fixed(values: Sequence[str]) -> frozenset[str]:
    """Parts of a value that are the same in both runs."""
    first, second = (_WORD.findall(one) for one in values)
    return frozenset(first) & frozenset(second)


def text_of(program: Program) -> str:
    return " ".join(word for word, _ in program.words)[:SHOWN]
