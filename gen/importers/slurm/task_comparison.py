"""Proof of an imported script: the original and the pods of its job run in a sandbox, and start the same programs.

Both run twice, with other names of nodes, ids and ports. A value that differs between the two runs of the original must
differ between those of the job; any other must be the same.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Diagnostic, Findings, Location, counted, regex
from gen.base.codes.imports import DIFFERS, NOT_CARRIED
from gen.base.shell_script import assigned_in
from gen.importers import ImportedJob, ImportInput
from gen.importers.sandbox import BATCH, HOME, MOST_TASKS, Learned, Process, Recording, recorded, source, without_ends
from gen.importers.sandbox_pods import WORLDS, World, names_of, programs_of, ranks_of, recorded_pods
from gen.importers.slurm.allocation import layout_of
from gen.importers.slurm.apptainer import CONTAINER_VALUES, OF_MODULES, SHIFTER_VALUES
from gen.importers.slurm.expansion import is_known
from gen.importers.slurm.failures import Failure, explains_failure, failures
from gen.importers.slurm.lines import command_at, computes, is_inside, is_set_behind, read_by, start_of
from gen.importers.slurm.options import SHORT, STARTS, SWITCHES, VALUED, Option, directives
from gen.importers.slurm.outside import with_values
from gen.importers.slurm.placeholders import with_given_values, without_placeholders
from gen.importers.slurm.programs import SCRIPT, VARIABLE, uses_of
from gen.importers.slurm.site import Layout, Site, constants, read_site
from gen.importers.slurm.srun import exported_by, with_nodes
from gen.importers.slurm.started import SHOWN, Program, both, first_difference, nearest, text_of
from gen.job.launchers import mpirun
from gen.kubernetes.objects import Body

_SCRIPT: Final = f"{HOME}/{SCRIPT}"
_ONCE: Final = regex(r"the single start|the change of `SLURM")
_FILE: Final = regex(r"the file `([^`]+)` is not carried")
_MOST_ARGUMENTS: Final = 99
# findings that explain no other program or argument: the sandbox takes the same cases, without values from outside
_OF_OTHERS: Final = regex(
    r"`--|`#SBATCH|the (?:redirection|file of|variable|mount|image|single start|type)\b|the other case of .*outside$"
)
_EXIT: Final = r"(?<=:)\?|(?m:(^|[;&|{(]|\bthen|\belse)([ \t]*)(?:exit)(?![\w=.(-]))"
_FUNCTION: Final = regex(
    r"(?m)^\s*(?:function\s+)?(?P<name>[A-Za-z_]\w*)\s*(?:\(\)\s*)?\{(?P<body>.*?(?:\}$|^\}))", re.DOTALL
)
_UNCLEAR: Final = regex(r"(?m)^gen: option (\S+)$")
_ENDED: Final = regex(r"(?m)^gen: exit (\d+) at (\d+)$")
_ERROR: Final = r"line (\d+): (?!.*(?:No such file|not found|cannot execute|Killed|Terminated))(.*)$"
_FAILED: Final = regex(rf"(?m)^{re.escape(_SCRIPT)}: {_ERROR}")
_FAILED_INSIDE: Final = regex(
    rf"(?m)^gen: shell at (\d+)$|^(?!{re.escape(_SCRIPT)}:)[^:\n]+: (?:-c: )?{_ERROR}".replace(
        r"line (\d+)", r"line \d+"
    )
)
_ENDS_ITSELF: Final = regex(r"#![^\n]*sh(?:[ \t]+\S+)*?[ \t]+-[A-Za-z]*e")
_OF_IMAGE: Final = regex(r"the value `\$(\w+)` of (?:the image|`--(?:container-)?image`)")  # the job has its own
_NAMED: Final = regex(r"`\$(\w+)`")


class Difference(Struct, frozen=True):
    """A task that does not start the same, at a line of the script."""

    line: int
    text: str
    tasks: int = 1
    expected: bool = False
    """Whether only the place differs where a value is computed: once in the script, in each pod, or by the operator."""
    program: str = ""
    """The name of a program that only the job starts."""


class _Input(Struct, frozen=True, kw_only=True):
    """The script, and what its site gives."""

    text: str
    options: Sequence[Option]
    layout: Layout
    values: Mapping[str, str]
    name: str
    images: set[str]
    """Variables from outside that it reads as images only."""


def compare_tasks(given: ImportInput, job: ImportedJob, runs: Sequence[Body], found: Findings) -> tuple[str, bool]:
    """Report each difference between the script and the runs of its job that no other finding names. Returns the result
    as a line, and whether there is none.
    """
    total, named, differences, after, unended = 0, set[int](), list[Difference](), list[Failure](), False
    lost = [one for one in found if one.code == NOT_CARRIED.name and one.place.file == given.file]
    images = Counter(match[1] for one in lost if (match := _OF_IMAGE.match(one.message)))
    checks = {one.place.line for one in lost if one.message.startswith("the check")}
    script = _without_checks(_script(given, job, images), checks)
    tested = _without_checks(_script(given, job, images, with_errors=True), checks)
    number = int(job.fields.get("workers", 1)) if "array" in job.fields else len(runs)
    about = [one for one in lost if not _OF_OTHERS.match(one.message)]
    names = {(name, one.place.line) for one in about for name in {*_NAMED.findall(one.message)} - script.images}
    alone = {one.place.line for one in about if not one.message.startswith("the meaning")}
    variables = {name for line in alone for name in assigned_in(command_at(script.text, line))}
    learned, moves = _of_command(job), any(one.message.startswith("the folder of `cd`") for one in lost)
    missing = {posixpath.basename(match[1]) for one in lost if (match := _FILE.match(one.message))}
    once = {one.place.line for one in lost if _ONCE.match(one.message)}
    eaten = {one.place.line for one in lost if one.message.startswith("the value `$")}
    of_traps = any(one.message.startswith("`trap ") for one in lost)  # whose lines bash counts from 1
    first = script.text[: script.text.rfind("\n#SBATCH")].count("\n") if of_traps else 0
    for index in dict.fromkeys((0, number - 1)):
        originals = [_original(script, job, index, world, learned) for world in WORLDS]
        known = learned.size
        imported = [recorded_pods(job, runs, index, world, _stubs(), learned) for world in WORLDS]
        if learned.size > known:  # the script may hide that it lacks them, in the file of a log
            originals = [_original(script, job, index, world, learned) for world in WORLDS]
        unended = unended or not all(one.ended for one in (*originals, *imported))
        fail = partial(_failed, tested, job, runs, learned)
        after += failures(given.text, job, originals, imported, fail) if index == 0 else ()
        total += len({one.task for one in originals[0].records if one.task >= 0}) or 1
        for one in _differences(script, job, originals, imported, once, eaten):
            is_named = one.expected or (moves and "in another folder" in one.text) or one.program in missing
            is_named = is_named or 0 < one.line <= first or any(_explains(part, script.text, one) for part in lost)
            read = {*VARIABLE.findall(read_by(script.text, one.line))}
            decided = (name for name, at in names if at in alone or not is_set_behind(name, script.text, at, one.line))
            is_named = is_named or not read.isdisjoint({*variables, *decided})
            if is_named or {one.line, start_of(script.text, one.line)} & {part.place.line for part in about}:
                named.add(one.line)
            else:
                differences.append(one)
    what, last = f"{job.namespace}/{job.name}", script.text.count("\n")
    if differences and (failure := _failure(originals[0], min(one.line or last for one in differences))):
        hint = "correct the script, unless it is for want of files, which the sandbox lacks"
        found.warning(DIFFERS, Location(given.file, failure[0]), f"the script fails here: {failure[1]}", hint)
        return f"{what} is not proven: the script fails at line {failure[0]} in the sandbox", False
    if unended:
        return f"{what} is not proven: the script does not end in the sandbox", False
    if (unclear := _UNCLEAR.search(originals[0].errors)) is not None:
        return f"{what} is not proven: gen does not know whether `{unclear[1]}` of `srun` has a value", False
    after = [one for one in after if not any(explains_failure(part, script.text, one) for part in about)]
    _report(given, job, [*differences, *(Difference(one.line, one.text) for one in after)], found)
    if not differences and not any(one.records for one in originals):
        return f"{what} is not proven: the script starts no program in the sandbox", False
    starts = f"{'does not start' if differences else 'starts'} the same programs with the same arguments"
    apart = f", apart from what findings name, or each pod does, at line {', '.join(map(str, sorted(named)))}"
    end = next((one for one in _ENDED.finditer(originals[0].errors) if one[1] != "0"), None)
    cut = f"; it ends with the status {end[1]} at line {end[2]}, and no later line is compared" if end else ""
    cut = f"{apart if named else ''}{cut}{'; it does something else after an error' if after else ''}"
    return f"{what} {starts} as the script in {counted(total, 'task')}{cut}", not [*differences, *after]


def _report(given: ImportInput, job: ImportedJob, differences: Sequence[Difference], found: Findings) -> None:
    """A warning for each difference, at its line."""
    for one in _together(differences):
        place = Location(given.file, one.line) if one.line else job.place
        more = f", also in {counted(one.tasks - 1, 'other task')}" if one.tasks > 1 else ""
        hint = "change the job until it does the same, or accept the difference"
        found.warning(DIFFERS, place, f"{one.text}{more}", hint)


def _failure(original: Recording, line: int) -> tuple[int, str] | None:
    """The first line up to that of a difference where bash reports an error, or ends with one; and the error."""
    ended = (one for one in _ENDED.finditer(original.errors) if one[1] != "0")
    ends = [(int(one[2]), f"it ends with the status {one[1]}") for one in ended]
    errors = [(int(one[1]), f"`{one[2][:SHOWN]}`") for one in _FAILED.finditer(original.errors)]
    at = 0  # the line of the last shell inside of the script
    for one in _FAILED_INSIDE.finditer(original.errors):
        at = int(one[1] or at)
        errors += [(at, f"`{one[2][:SHOWN]}`")] if one[2] and at else []
    return min((one for one in (*ends, *errors) if one[0] <= line), default=None)


def _explains(finding: Diagnostic, text: str, difference: Difference) -> bool:
    """Whether a finding is about a program in a text of the command with this line, such as that of `bash -c`."""
    inside = difference.line > 0 and is_inside(text, finding.place.line, difference.line)
    started = difference.text.partition("`")[2].partition("`")[0]
    if finding.message.startswith((f"`{started}` is not carried", f"`trap {started}")):
        return inside or finding.message.startswith("`trap ")  # which bash runs at line 1
    named = {posixpath.basename(word) for word in re.findall(r"`([^`\s]+)`", finding.message)}
    starts = {posixpath.basename(word) for word in started.split()}
    return inside and finding.message[:1].isdigit() and not named.isdisjoint(starts)


def _failed(
    script: _Input,
    job: ImportedJob,
    runs: Sequence[Body],
    learned: Learned,
    programs: Collection[str],
    of_pods: Collection[str],
) -> tuple[Recording, Recording]:
    """The script and the pods of its job, in which these programs fail."""
    original = _original(script, job, 0, WORLDS[0], learned, programs)
    return original, recorded_pods(job, runs, 0, WORLDS[0], _stubs(), learned, of_pods)


def _script(given: ImportInput, job: ImportedJob, images: Mapping[str, int], *, with_errors: bool = False) -> _Input:
    site = read_site(given.site[1], given.site[0], Findings()) if given.site is not None else Site()
    values = {**site.define, **given.define}
    text = with_given_values(without_placeholders(given.text.replace("\r\n", "\n"), values)[0], values)
    text = without_ends(text, with_errors=with_errors)
    options, _ = directives(text, given.file, Findings())
    options = with_nodes([with_values(one, values, {}) for one in options], values, site.nodes, Findings())
    alone = {name for name, uses in images.items() if uses_of(name, text) == uses}
    layout = layout_of(options, as_sweep="array" not in job.fields)
    return _Input(text=text, options=options, layout=layout, values=values, name=job.name, images=alone)


def _without_checks(script: _Input, lines: set[int]) -> _Input:
    """The script without the ends behind checks of files, which the sandbox lacks."""
    text = script.text
    functions = (one["name"] for one in _FUNCTION.finditer(text) if "exit" in one["body"])
    ends = regex(_EXIT.replace("exit", "|".join((r"exit\b(?:[ \t]+-?\d+)?", *map(re.escape, functions))), 1))
    for line in lines:
        at = sum(map(len, text.split("\n")[: line - 1])) + line - 1
        text = text[:at] + ends.sub(lambda one: "-" if one[0] == "?" else f"{one[1]}{one[2]}:", text[at:], count=1)
    return replace(script, text=text)


def _original(
    script: _Input, job: ImportedJob, index: int, world: World, learned: Learned, fails: Collection[str] = ()
) -> Recording:
    """The programs that the script starts."""
    layout = script.layout
    known = {name: value for name, value in constants(script.name, layout, {}).items() if is_known(value)}
    hosts = f"{world.host}[0-{layout.nodes - 1}]"
    env = {
        **known,
        **dict.fromkeys(("SLURM_JOB_ID", "SLURM_JOBID", "SLURM_ARRAY_JOB_ID"), world.number),
        **dict.fromkeys(("SLURM_JOB_NODELIST", "SLURM_NODELIST"), hosts),
        **dict.fromkeys(("SLURMD_NODENAME", "HOSTNAME"), f"{world.host}0"),
        "SLURM_SUBMIT_DIR": script.values.get("PWD", HOME),
        "GEN_ID": world.number,
        "GEN_HOST": world.host,
        "GEN_SCRIPT": posixpath.basename(job.place.file),
        "GEN_GPUS": str(layout.gpus or job.fields.get("gpus", 1)),
        **ranks_of(job),
        **dict.fromkeys(script.images, "image"),
        **{name: value for name, value in script.values.items() if name.isidentifier()},
    }
    if layout.indices:
        env["SLURM_ARRAY_TASK_ID"] = str(layout.indices[0] + index if layout.array else layout.indices[index])
        env["SLURM_ARRAY_TASK_COUNT"] = str(job.fields["workers"] if layout.array else len(layout.indices))
    folder = posixpath.join(HOME, script.values.get("PWD", ""))
    for option in script.options:
        env |= exported_by([option])
        folder = option.value if option.name == "chdir" and option.value.startswith("/") else folder
    last = max((int(name) for name in script.values if name.isdecimal()), default=0)
    arguments = (script.values.get(str(number), "") for number in range(1, min(last, _MOST_ARGUMENTS) + 1))
    return recorded(
        [
            Process(
                words=("bash", *(["-e"] if fails and _ENDS_ITSELF.match(script.text) else []), _SCRIPT, *arguments),
                env=env,
                folder=folder,
            )
        ],
        files={_SCRIPT: script.text},
        scripts=_stubs(),
        names=names_of(job),
        programs=programs_of(job),
        learned=learned,
        fails=fails,
    )


def _stubs() -> dict[str, str]:
    """Programs that start tasks, or a container, with the options of those of a cluster."""
    letters = " ".join(f"[{letter}]={name}" for letter, name in SHORT.items())
    srun = source("srun", letters=letters, switches=SWITCHES, known=VALUED, starts=STARTS, most=str(MOST_TASKS))
    of_mpi = {"values": mpirun.LAUNCHER.values, "pairs": mpirun.LAUNCHER.pairs}
    container = source("container", values=CONTAINER_VALUES, of_shifter=SHIFTER_VALUES)
    containers = dict.fromkeys(("apptainer", "singularity", "shifter", *OF_MODULES), container)
    return {"mpirun": source("mpirun", **of_mpi, most=str(MOST_TASKS)), "srun": srun, **containers}


def _of_command(job: ImportedJob) -> Learned:
    """The programs of the command with a folder: a pipe can hide the error of a missing one."""
    command = job.fields.get("command", "")
    lines = (command if isinstance(command, str) else str(command[-1])).split("\n")
    given = str(job.fields.get("workingDir", HOME))
    folders = [given, *(posixpath.join(given, line.split()[1]) for line in lines if re.match(r"cd [\w./-]+$", line))]
    words = [line.split() for line in lines]
    words = [[one for one in line if "/" in one] if line[:1] == ["mpirun"] else line for line in words]
    starts = {one for line in words for one in line[:1] if re.fullmatch(r"[\w./-]+", one)}
    programs = {posixpath.join(folder, one) for folder in folders for one in starts}
    programs = {posixpath.normpath(one) for one in programs} - {*job.fields.get("files", {})}
    return Learned(
        programs={one for one in programs if posixpath.dirname(one) not in (*folders, HOME)},
        folders={posixpath.dirname(one) for one in programs},
    )


def _differences(
    script: _Input,
    job: ImportedJob,
    originals: Sequence[Recording],
    imported: Sequence[Recording],
    once: set[int],
    eaten: set[int],
) -> Iterator[Difference]:
    """All programs of the tasks that do not start the same. Findings name the single starts in the lines `once`, and in
    those `eaten` options of `srun` that take the program for their value.
    """
    before, after = both(originals), both(imported)
    folders, back = dict[str, str](), dict[str, str]()
    changed = dict[tuple[tuple[str, str], ...], int]()
    tasks = sorted({0, *(one.record.task for one in (*before, *after) if one.record.task != BATCH)})
    for task in tasks:
        own = (BATCH, 0) if task == 0 else (task,)
        expected = [one for one in before if one.record.task in own]
        left = [one for one in after if one.record.task in own]
        lost, others = {*eaten}, list[Program]()
        for program in expected:
            same = next((one for one in left if first_difference(job, program, one) is None), None)
            if same is None:
                others.append(program)
                continue
            left.remove(same)
            pair = program.record.folder, same.record.folder
            if folders.setdefault(pair[0], pair[1]) != pair[1] or back.setdefault(pair[1], pair[0]) != pair[0]:
                yield Difference(program.record.line, f"task {task} starts `{text_of(program)}` in another folder")
        for program in others:
            near = nearest(program, left)
            left = [one for one in left if one is not near]
            changed |= {near.words: program.record.line} if near is not None else {}
            lost |= {program.record.line} if near is None else set()
            is_value = near is None and computes(script.text, program.record.line, program.record.words)
            yield Difference(program.record.line, _said(job, task, program, near), expected=is_value)
        first = {one.record.line for one in before if one.record.task == 0}
        first = {line for line in first if any(is_inside(script.text, one, line) for one in once)}
        single = [
            one for one in before if one.record.task == BATCH or (not one.record.task and one.record.line in first)
        ]
        for program in (one for one in left if task or one.record.words[0] != "mpirun"):  # in the place of `srun`
            cause = next((one for one in single if first_difference(job, one, program) is None), None)
            text = f"task {task} starts `{text_of(program)}` in the job only"
            named = (line for line in lost if program.record.words[0] in read_by(script.text, line))
            line = cause.record.line if cause is not None else changed.get(program.words) or next(named, 0)
            name = posixpath.basename(program.record.words[0])
            yield Difference(line, text, expected=cause is not None and task > 0, program=name)


def _said(job: ImportedJob, task: int, program: Program, near: Program | None) -> str:
    if near is None:
        return f"task {task} starts `{text_of(program)}` in the script, and not in the job"
    found = first_difference(job, program, near) or ("", "")
    if found[0] == found[1] != "":  # a path that is relative
        return f"task {task} starts `{text_of(program)}` in another folder"
    one, other = (value[:SHOWN] for value in found)
    name = program.words[0][0].rpartition("/")[2]
    return f"task {task} starts `{name}` with `{one}` in the script, and with `{other}` in the job"


def _together(differences: Sequence[Difference]) -> Iterator[Difference]:
    """One for each line and text without its task."""
    groups: dict[tuple[int, str], list[Difference]] = {}
    for one in differences:
        groups.setdefault((one.line, re.sub(r"^task \d+ ", "", one.text)), []).append(one)
    for group in groups.values():
        yield replace(group[0], tasks=len(group))
