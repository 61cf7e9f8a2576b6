"""The pod of the launcher of MPI: files of its own, which the workers lack, and the address that it gives them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from typing import Final

from msgspec.structs import replace

from gen.base import Location, names, regex
from gen.importers.draft import JobDraft
from gen.importers.slurm.bash_text import cut
from gen.importers.slurm.expansion import START, is_known, shown, source_text
from gen.importers.slurm.lines_of_runs import WIDE
from gen.importers.slurm.processes import OF_HOSTS, OF_SHELL
from gen.importers.slurm.programs import text_of_words
from gen.importers.slurm.script import BatchScript
from gen.importers.slurm.steps import RENDEZVOUS, WRAPPERS, Run
from gen.job.launchers import mpirun

_BETWEEN: Final = (("wait",), ("sleep",), ("kill",), ("rm",))
_FIRST_HOST: Final = "$(head -n 1 /etc/mpi/hostfile | cut -d ' ' -f 1)"
DEFAULT_PORT: Final = "29500"

_OF_FILES: Final = names("chmod cp curl gunzip git ln mv rsync tar touch unzip wget")
"""Programs that only need the files that they name."""


_COMPILERS: Final = names("cmake g++ gcc make mpicc mpicxx mpifort ninja nvcc")
_UNPACKERS: Final = names("git tar unzip")
_ARCHIVE: Final = regex(r"\.(?:tar(?:\.\w+)?|tgz|tbz2?|txz|zip|git)$")
_TARGET: Final = regex(r"(?<![<>&\d])[12]?>>?\s*([\w./~+-]+)")
"""A file to which a line of the shell writes."""
_TEMPORARY: Final = regex(r"(?:\$\(|`)\s*mktemp\b")
_ASSIGNED: Final = regex(r"[A-Za-z_]\w*=|-")
_OF_LAUNCHER: Final = "only the pod of the launcher runs it, with files of its own and without GPUs"
_ON_WORKERS: Final = "do it in the image or on a volume, or start it with `srun --ntasks-per-node=1`"


def report_launcher(draft: JobDraft, runs: Sequence[Run], of_pod: Mapping[str, Location]) -> None:
    """Report programs that run in the pod of the launcher only, and need files or GPUs of the workers; and files of
    the command, with their places, that the workers read.
    """
    if draft.fields["kind"] != "mpi":
        return
    mounts = [one if isinstance(one, str) else one["path"] for one in draft.fields.get("data", {}).values()]

    folder = draft.fields.get("workingDir", "")

    def is_outside(path: str) -> bool:
        return not any(f"{posixpath.join(folder, path)}/".startswith(f"{mount}/") for mount in mounts)

    used = {word for one in runs if one.by_srun for word in one.words}
    files = {path for one in runs if _is_on_workers(one) for path in _operands(one) if is_outside(path)}
    made = dict[str, str]()
    for one in (run for run in runs if not _is_on_workers(run)):
        program = _program(one)
        words = [word for word in one.words[1:] if not word.startswith("-")]
        paths = [posixpath.join(one.folder, word) for word in words if "/" in word or program == "mkdir"]
        outside = [path for path in paths if is_outside(path)]
        is_needed = program not in _OF_FILES or bool(outside) or not paths
        is_needed = any(path in word for path in outside for word in used) if program == "mkdir" else is_needed
        is_needed = is_needed or (program in _OF_FILES and not files.isdisjoint(_operands(one)))
        if one.text or one.words[:1] in (*OF_SHELL, *_BETWEEN):
            is_needed = not files.isdisjoint({*_written(one)} - of_pod.keys())
        if program and is_needed:
            draft.drop(one.place, f"`{program[:40]}` on the workers", _OF_LAUNCHER, _ON_WORKERS)
        made |= dict.fromkeys(filter(is_outside, _made(one, program)), program)
    for one in (run for run in runs if _TEMPORARY.search(" ".join((run.text, *run.words)))):
        what, why = "the folder of `mktemp` on the workers", "only the pod of the launcher makes it"
        draft.drop(one.place, what, why, "use a folder of a volume instead, if the program does not make it")
    for one in filter(_is_on_workers, runs):
        if (program := _started(one)) and any(_is_in(program, *pair) for pair in made.items()):
            message = f"the workers do not have `{cut(program)}`, because only the pod of the launcher makes it"
            draft.cannot_run(one.place, message, "make it in the image or on a volume")
    _report_files(draft, runs, {path: place for path, place in of_pod.items() if is_outside(path)})


def _report_files(draft: JobDraft, runs: Sequence[Run], files: Mapping[str, Location]) -> None:
    """Report files of the launcher that the workers read."""
    read = {word for one in filter(_is_on_workers, runs) for word in one.words}
    for path, place in files.items():
        if any(path in word for word in read):
            what = f"only the pod of the launcher writes `{cut(source_text(path))}`, and its workers read it"
            draft.cannot_run(place, what, "write it into a folder of a volume")


def _is_in(program: str, folder: str, maker: str) -> bool:
    """Whether a program is in the folder that another one makes or changes."""
    if maker in _COMPILERS and program.endswith((".py", ".sh")):
        return False
    return f"{program}/".startswith(f"{folder}/") or (folder == "." and not program.startswith(("/", START)))


def _is_on_workers(run: Run) -> bool:
    """Whether the pods of the workers have a program."""
    is_launcher = run.launcher in (mpirun.LAUNCHER, *OF_HOSTS) or run.words[:1] == ("mpirun",)
    return not run.text and (run.by_srun or is_launcher)


def _program(run: Run) -> str:
    """The name of the program that a line starts."""
    first = run.words[0] if run.words else next(iter(run.text.split()), "")
    name = source_text(first).rpartition("/")[2]
    return name if regex(r"[\w.+-]*").fullmatch(name) else ""


def _path(run: Run, word: str) -> str:
    return posixpath.normpath(posixpath.join(run.folder, word))


def _operands(run: Run) -> list[str]:
    """The paths that a program could mean by its words, which are relative to its folder."""
    words = (word.partition("=")[2] if word.startswith("-") else word for word in run.words[1:])
    return [_path(run, word) for word in words if word]


def _written(run: Run) -> list[str]:
    """The files that a line of the shell writes."""
    return [_path(run, path) for path in (*_TARGET.findall(run.text), *run.output[1:]) if path]


def _made(run: Run, program: str) -> list[str]:
    """The folders and programs that a program makes."""
    words = run.words[1:]
    behind = next((after for word, after in pairwise(words) if word in ("-o", "-C")), "")
    if program in _COMPILERS:
        return [_path(run, behind or ".")]
    if program not in _UNPACKERS or (program == "git" and words[:1] != ("clone",)):
        return []
    named = [word for word in words if _ARCHIVE.search(word)]
    target = words[-1] if program == "git" and words[-1] not in named else behind
    folders = [target] if target else [_ARCHIVE.sub("", posixpath.basename(word)) for word in named]
    return [_path(run, one) for one in folders]


def _at_program(words: Sequence[str]) -> int:
    """The index of the program that `mpirun` starts."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        name = mpirun.LAUNCHER.name_of(words[at].lstrip("-").partition("=")[0])
        at += 3 if name in mpirun.LAUNCHER.pairs else 2 if name in mpirun.LAUNCHER.values else 1
    return at


def _started(run: Run) -> str:
    """The file that `mpirun` starts, or a script behind its language, if it has a path."""
    if run.words[:1] != ("mpirun",):
        return ""
    words, at = run.words, _at_program(run.words)
    while at < len(words) and (words[at] in WRAPPERS or _ASSIGNED.match(words[at])):
        at += 1
    program = next(iter(words[at:]), "")
    if "/" in program:
        return _path(run, program)
    return next((_path(run, word) for word in words[at + 1 : at + 3] if word.endswith((".py", ".sh"))), "")


def in_one_start(runs: Sequence[Run]) -> list[Run]:
    """The programs, with short ones of the text of one `srun` in one start."""
    made = list[Run]()
    for _, some in groupby(runs, key=_start_of):
        members = [*some]
        if len(members) == 1:
            made += members
            continue
        whole, members = members, _with_one_file(members)
        texts = [*(_text_of(one) for one in members[:-1]), _text_of(replace(members[-1], output=("", "")))]
        is_short = len(" ".join(texts)) < WIDE and all(_is_plain(one) for one in members[:-1])
        if not is_short or members[-1].background:
            made += whole
            continue
        text = texts[0]
        for before, one, line in zip(members, members[1:], texts[1:], strict=False):
            text += f"{' &&' if one.joined or before.stops else ';'} {line}"
        first, last = members[0], members[-1]
        start = first.words[: _at_program(first.words)]
        made.append(replace(last, words=(*start, "sh", "-c", text), joined=first.joined, entered=first.entered))
    return made


def _with_one_file(runs: list[Run]) -> list[Run]:
    """The programs, with a file to which each of them adds as that of the last one, which has it for all."""
    first, *others = [one.output for one in runs]
    if not first[1] or any(one[1] != first[1] or ">>" not in one[0] for one in others):
        return runs
    return [*(replace(one, output=("", "")) for one in runs[:-1]), replace(runs[-1], output=first)]


def _text_of(run: Run) -> str:
    """A program with its output as a text of `sh`."""
    words = run.words[_at_program(run.words) :]
    if words[:2] == ("sh", "-c"):
        return words[2]
    sign, path = run.output
    output = f" {sign} {shown(path)}" if path else ""
    return " ".join(text_of_words(words)) + output


def _start_of(run: Run) -> object:
    """What programs have in common that one start of `mpirun` can have; a single program has nothing."""
    words, program = run.words[: _at_program(run.words)], run.words[_at_program(run.words) :]
    is_text = program[:1] == ("sh",)
    if program[:1] == ("bash",) or (is_text and (program[1:2] != ("-c",) or program[3:])):
        return id(run)
    if run.words[:1] != ("mpirun",) or not run.by_srun or run.assigned or not all(map(is_known, run.words)):
        return id(run)
    return words, run.options, run.place, run.folder, run.shells


def _is_plain(run: Run) -> bool:
    """Whether a program has no end of its own, and no files that a text cannot have."""
    is_text = run.words[_at_program(run.words) :][:1] == ("sh",)
    has_file = run.output[1] != "" and (is_text or "&" in run.output[0] or not is_known(run.output[1]))
    return not (run.input or has_file or run.otherwise or run.background)


def with_first_host(script: BatchScript, runs: list[Run]) -> list[Run]:
    """The programs of a job with MPI, with the address of its first worker if the script gives them one, and the port
    if they read one: only the launcher knows the address, and each `mpirun` passes both on.
    """
    texts = " ".join(source_text(word) for one in runs for word in (*one.words, one.text))
    read = {name for name in RENDEZVOUS if name in script.exported or re.search(rf"\$\{{?{name}\b", texts)}
    if not read:
        return runs
    read.add("MASTER_ADDR")
    given = (str(one.exported.get("MASTER_PORT")) for one in reversed(script.steps))
    port = next((one for one in given if one.isdecimal()), DEFAULT_PORT)
    passed = tuple(word for name in sorted(read) for word in ("-x", name))
    runs = [
        replace(one, words=("mpirun", *passed, *one.words[1:])) if one.by_srun and one.words[:1] == ("mpirun",) else one
        for one in runs
    ]
    first, values = runs[0], {"MASTER_ADDR": _FIRST_HOST, "MASTER_PORT": port}
    text = " ".join(("export", *(f"{name}={values[name]}" for name in sorted(read))))
    return [Run(text=text, place=first.place, folder=first.folder, entered=first.entered), *runs]
