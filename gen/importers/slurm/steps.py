"""The steps of a batch script as the command of a job: the batch part happens once, `srun` in each task.

A launcher keeps its own options, except those that gen sets: the numbers of pods and processes, ranks, addresses and
ports. What belongs to the machines of a site, such as its network interfaces and proxies, is named and left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from gen.base import Findings, names, regex
from gen.importers.draft import JobDraft
from gen.importers.slurm.background import with_plain_waits
from gen.importers.slurm.expansion import ADDRESS, OPEN, PORT, RUN_ID, is_known, marked, source_text, sources
from gen.importers.slurm.host_names import without_suffixes
from gen.importers.slurm.images import named_images, of_container, other_images, with_named_image
from gen.importers.slurm.options import Option, options_of
from gen.importers.slurm.outputs import unread_outputs, with_output
from gen.importers.slurm.outside import report_unset, without_variables
from gen.importers.slurm.programs import (
    STATUS,
    VARIABLE,
    DroppedPart,
    Step,
    in_joined_shell,
    in_shell,
    needed_steps,
    without_needless_ends,
)
from gen.importers.slurm.script import BatchScript
from gen.importers.slurm.site import (
    DEVICES,
    OF_KIND,
    OF_LINKER,
    OF_MACHINES,
    Layout,
    is_of_machines,
    sets_network,
    unclear_addresses,
)
from gen.importers.slurm.srun import (
    changed_sizes,
    computed_numbers,
    copies_of_images,
    lost_options,
    on_each_node,
    tasks_of,
    with_export,
    without_only_node,
    without_srun,
)
from gen.importers.slurm.srun_variables import NAMES as OF_SRUN
from gen.importers.slurm.srun_variables import options_in_variables
from gen.importers.slurm.traps import INNER_SRUN
from gen.importers.slurm.written_files import follow_tasks, matched
from gen.job.launchers import BY_PROGRAM, accelerate, base, deepspeed, horovodrun, mpirun, torchrun
from gen.job.launchers.base import HOSTS, PODS, PROCESSES, Launcher

_SET_BY_GEN: Final = (PROCESSES, PODS, base.ALL_PROCESSES, base.ADDRESS, base.RANK, base.PORT, base.ALONE, HOSTS)
_MORE: Final = names("rdzv_backend rdzv_id same_network no_ssh no_ssh_check launcher force_multi")
"""Other options about the other pods."""
_OF_MODULES: Final = torchrun.LAUNCHER, accelerate.LAUNCHER, deepspeed.LAUNCHER
_NUMBERS: Final = (PROCESSES, base.ALL_PROCESSES)
_MODULES: Final = {module: one for one in _OF_MODULES for module in one.modules}
BACKEND: Final = "rdzv_backend"
WRAPPERS: Final = names("env exec ionice nice nohup numactl stdbuf taskset time timeout unbuffer")
_OPERANDS: Final = {"timeout": 1, "taskset": 1}
"""Words of their own in front of the program."""
_VALUES: Final = {
    "env": names("-u -C --unset --chdir"),
    "ionice": names("-c -n --class --classdata"),
    "nice": names("-n --adjustment"),
    "numactl": names("-N -m -C -i -p --cpunodebind --membind --physcpubind --interleave --preferred"),
    "stdbuf": names("-i -o -e --input --output --error"),
    "time": names("-f -o --format --output"),
    "timeout": names("-s -k --signal --kill-after"),
}
"""Options with a word behind them."""
PYTHON: Final = regex(r"python[\d.]*")
RENDEZVOUS: Final = ("MASTER_ADDR", "MASTER_PORT")
GIVEN: Final = OF_KIND | names(
    "JOB_COMPLETION_INDEX HOSTNAME OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_LOCAL_RANK "
    "OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_SIZE OMPI_COMM_WORLD_NODE_RANK TASK_COUNT PATH LD_LIBRARY_PATH ? ! "
    "PIPESTATUS SECONDS RANDOM BASHPID UID PWD OLDPWD SUBMIT_DIR"
)
_CALCULATED: Final = regex(r"\$\(\(((?:[^$`]|\$(?!\())*)\)\)")
_NAME: Final = regex(r"[A-Za-z_]\w*")


class Run(Step, frozen=True, kw_only=True):
    """A program of the job."""

    launcher: Launcher | None = None
    at: int = 0
    """Index of the launcher among the words."""
    nodes: int = 1
    """Nodes on which `srun` starts it."""
    per_node: int = 1
    """Tasks that it starts on a node, at most."""
    tasks: int = 1
    numbers: tuple[tuple[str, str], ...] = ()
    """Variables of the kind with other values than those of the pods."""


def runs_of(
    script: BatchScript, ranks: Callable[[int], Mapping[str, str]], layout: Layout, found: Findings
) -> tuple[list[Run], list[Option]]:
    """The programs of a script, and the options of the `srun` that starts the training."""
    runs: list[Run] = []
    options: dict[int, list[Option]] = {}
    images: dict[str, Option] = {}
    readers: list[tuple[Sequence[Step], Mapping[str, str]]] = []
    for step in on_each_node(with_plain_waits(_needed(script)), layout.nodes):
        inner, tasks = [step], (1, 1, 1)
        if step.by_srun:
            known, rest = options_of(without_variables(step.options), step.place, found)
            known = with_named_image(without_only_node(known, layout.nodes), images)
            report_unset(script, known, GIVEN)
            script.left += computed_numbers(known, script.from_text)
            script.left += [*changed_sizes(step, script.constants), *options_in_variables(script, step)]
            tasks = tasks_of(known, layout)
            folder = next((one for one in reversed(known) if one.name in ("container-workdir", "chdir")), None)
            moved = with_export(step if folder is None else step.within(folder.value, folder.place), known)
            sizes = dict.fromkeys(("SLURM_NTASKS", "SLURM_NPROCS"), str(tasks[2]))
            own = {**ranks(tasks[1]), **sizes, "SLURM_NNODES": str(tasks[0])}
            inner = _in_tasks(script, moved, rest, own, joined=step.joined) if rest else []
            readers.append((inner, own))
            if step.output[1] and not inner:  # of a program that only shows something
                script.written[step.output[1]] = None, step.place
            in_background = step.background and not any(one.in_background for one in step.shells)
            inner = in_shell(inner, step.stops, in_background=in_background)
            inner = in_joined_shell(inner, step.stops) if step.joined or step.entered.joins else inner
            inner = [replace(one, shells=(*step.shells, *one.shells)) for one in inner]
            inner = _ended(inner, step)
            options |= {len(runs) + number: known for number in range(len(inner))}
        lost = (
            (one.place, name)
            for one in inner
            for name, value in one.assigned
            if is_left_out(one, name, value) and name not in OF_SRUN
        )
        script.left += [DroppedPart(place, f"the variable `{name}`", *OF_MACHINES) for place, name in lost]
        runs += [as_run(replace(one, options=step.options, by_srun=step.by_srun), *tasks) for one in inner]
    runs = [replace(one, text=without_srun(one.text)) for one in runs] if layout.tasks == 1 else runs
    runs = without_suffixes(script, [_with_paths(one, script.looked_up) for one in runs])
    follow_tasks(script, readers)
    copies = copies_of_images(script, runs, named_images(script))
    needed = [at for at in without_needless_ends(runs) if at not in copies]
    options = {at: options[old] for at, old in enumerate(needed) if old in options}
    runs = [runs[number] for number in needed]
    runs, options = _without_waits(runs, options)
    most = {number: (runs[number].nodes, runs[number].per_node > 1) for number in options}
    widest = [number for number in options if most[number] == max(most.values())]
    launched = [number for number, one in enumerate(runs) if one.launcher is not None]
    across = max((runs[number].nodes for number in launched), default=0)
    started = [number for number in launched if runs[number].nodes == across] or widest or [len(runs) - 1]
    script.left += matched(runs, script.files)
    if layout.nodes > 1:
        script.left += unclear_addresses(script.steps, [one for one in runs if one.launcher is not None])
    kept = [[*images.values()]] if any(INNER_SRUN.search(one.text) for one in runs) else []
    of_step = options.get(started[-1], of_container([*options.values(), *kept])) if runs else []
    script.left += other_images(options.values(), of_step)
    script.left += lost_options([one for at, one in options.items() if at != started[-1]], of_step)
    return runs, of_step


def _needed(script: BatchScript) -> list[Step]:
    """The steps that a job needs. Reports programs that are none of them."""
    needed = needed_steps(script.steps)
    script.left += unread_outputs(script.steps, needed, [one.what for one in script.left])
    return needed


def _without_waits(runs: list[Run], options: dict[int, list[Option]]) -> tuple[list[Run], dict[int, list[Option]]]:
    """The programs with their options: to wait for one program in the background is to start it."""
    for number in reversed(range(len(runs) - 1)):
        alone = runs[number].background and runs[number + 1].words == ("wait",)
        if alone and not any(one.background for one in runs[:number]):
            runs[number : number + 2] = [replace(runs[number], background=False)]
            options = {key - (key > number): value for key, value in options.items()}
    return runs, options


def _ended(inner: list[Step], of_srun: Step) -> list[Step]:
    """The programs of a task, with the redirections and the `||` of its `srun`."""
    written = with_output(inner, of_srun.output) if of_srun.output[1] else None
    inner = written or inner
    for last in inner[-1:]:
        output = of_srun.output if of_srun.output[1] and written is None else last.output
        ends = {
            "background": of_srun.background or last.background,
            "input": of_srun.input or last.input,
            "output": output,
        }
        inner = [*inner[:-1], replace(last, **ends, otherwise=_after(last, of_srun))]
    return inner


def _in_tasks(
    script: BatchScript, step: Step, words: list[str], constants: Mapping[str, str], *, joined: bool
) -> list[Step]:
    """What each task does, with the environment of the batch part. A single one can keep the status of its programs."""
    task = _read_task(script, step, words, constants)
    if task.needs_statuses and {constants.get("SLURM_NNODES"), constants.get("SLURM_NTASKS")} == {"1"}:
        again = _read_task(script, step, words, constants, keeps_statuses=True)
        task = task if again.unreadable is not None or again.cut is not None else again
    if not task.keeps_statuses:
        task.name_statuses()
    script.absorb(task)
    for one in task.steps[:1]:
        entered = replace(one.entered, joins=one.entered.joins or step.entered.joins)
        task.steps[0] = replace(one, joined=joined, entered=entered)
    return task.steps


def _read_task(
    script: BatchScript, step: Step, words: list[str], constants: Mapping[str, str], *, keeps_statuses: bool = False
) -> BatchScript:
    task = BatchScript(script.file, {**script.constants, **constants}, first_line=script.first_line, in_task=True)
    of_pod = {name: value for name, value in (("MASTER_ADDR", ADDRESS), ("MASTER_PORT", PORT)) if name in step.exported}
    task.variables = {**step.exported, **of_pod, **dict(step.assigned)}
    task.exported = dict.fromkeys(step.exported, step.place)
    task.folder, task.entered = step.folder, replace(step.entered, at=-1, joins=False)
    task.share(script)
    task.in_image = any(one.startswith("--container-") for one in step.options)
    task.kept, task.source = task.kept | script.from_text, script.source
    task.keeps_statuses = keeps_statuses
    task.run(step.place, [*words], step.assigned)
    return task


def as_run(step: Step, nodes: int = 1, per_node: int = 1, tasks: int = 1) -> Run:
    """A program of the script as one of the job."""
    launcher, at = launcher_of(step.words)
    return Run(**asdict(step), launcher=launcher, at=at, nodes=nodes, per_node=per_node, tasks=tasks)


def _behind_wrappers(words: Sequence[str]) -> int:
    """The index of the program that others such as `timeout 1h` start."""
    at, around, operands = 0, "", 0
    while at < len(words):
        if re.match(r"[A-Za-z_]\w*=|-", words[at]):
            at += 2 if words[at] in _VALUES.get(around, ()) else 1
        elif not operands and words[at].rpartition("/")[2] in WRAPPERS:
            around = words[at].rpartition("/")[2]
            operands = _OPERANDS.get(around, 0)
            at += 1
        elif operands:
            operands -= 1
            at += 1
        else:
            break
    return at


def launcher_of(words: Sequence[str]) -> tuple[Launcher | None, int]:
    """The launcher that a command starts, and the index of the last word that names it."""
    at = _behind_wrappers(words)
    program = words[at].rpartition("/")[2] if at < len(words) else ""
    if PYTHON.fullmatch(program):
        module = next((number for number in range(at + 1, min(at + 5, len(words))) if words[number] == "-m"), None)
        name = words[module + 1] if module is not None and module + 1 < len(words) else ""
        is_text = "-c" in words[at + 1 : module]  # with arguments of its own
        return (_MODULES[name], module + 1) if module is not None and name in _MODULES and not is_text else (None, 0)
    launcher = BY_PROGRAM.get(program)
    if launcher is horovodrun.LAUNCHER and _names_hosts(words[at + 1 :]):
        return launcher, at
    if launcher not in (*_OF_MODULES, mpirun.LAUNCHER):
        return None, 0
    behind = len(launcher.before)
    return (launcher, at + behind) if tuple(words[at + 1 : at + 1 + behind]) == launcher.before else (None, 0)


_RUNS_FILE: Final = regex(r"(?:\S*/)?(?:python[\d.]*|torchrun|accelerate|deepspeed)(?=\s)")


def _with_paths(run: Run, names: Collection[str]) -> Run:
    """A program with the paths of `names` that Python or a launcher of Python gets: these take a name for a file."""
    if not names:
        return run
    started = regex(rf"(?<=\s)(?<!which )({'|'.join(map(re.escape, sorted(names)))})(?=[\s;&|)'\"]|$)")

    def one(text: str) -> str:
        start = _RUNS_FILE.search(text)
        behind = text[start.end() :] if start is not None else ""
        return text[: len(text) - len(behind)] + started.sub(r"$(which \1)", behind)

    words, behind = [*run.words], False
    for at, word in enumerate(run.words):
        words[at] = marked(f"$(which {word})") if behind and word in names else one(word) if " " in word else word
        behind = behind or _RUNS_FILE.match(f"{word} ") is not None
    return replace(run, words=tuple(words), text="\n".join(map(one, run.text.split("\n"))))


def _names_hosts(words: Sequence[str]) -> bool:
    """Whether options of `horovodrun` name the hosts, which those of other machines are."""
    at, launcher = 0, horovodrun.LAUNCHER
    while at < len(words) and words[at].startswith("-"):
        name = launcher.name_of(words[at].lstrip("-").partition("=")[0])
        if name in ("hosts", "hostfile"):
            return True
        at += 2 if name in launcher.values and "=" not in words[at] else 1
    return False


class Options(Struct):
    """Options of a launcher for pods and processes."""

    words: list[str]
    """The command without the options that gen sets."""
    values: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Its options as they are written, and their values, by what they set."""
    left: tuple[str, ...] = ()
    """Options about the machines of a site."""

    @property
    def processes(self) -> str:
        """The processes on each pod, as they are written."""
        return self.values.get(PROCESSES, ("", ""))[1]


def without_set(run: Run, *, parallel: bool = False, kept: Collection[str] = ()) -> Options:
    """The command without options of its launcher that gen sets, apart from `kept` ones, and ports if `parallel`."""
    assert run.launcher is not None  # the caller asks
    words, at = list(run.words[: run.at + 1]), run.at + 1
    given = Options(words)
    roles, more = ((PROCESSES, PODS, base.ALL_PROCESSES, base.RANK), set[str]()) if parallel else (_SET_BY_GEN, _MORE)
    dropped = {*roles} - {*kept} - ({base.ALL_PROCESSES} if run.launcher is horovodrun.LAUNCHER else set())
    while at < len(run.words):
        word = run.words[at]
        if not word.startswith("-") or word == "--" or word.startswith(OPEN):
            break
        written, sign, value = word.lstrip("-").partition("=")
        name = run.launcher.name_of(written)
        has_value = name in run.launcher.values and not (sign or _is_option(run.launcher, run.words[at + 1 : at + 2]))
        size = 3 if name in run.launcher.pairs else 2 if has_value else 1
        value = value if sign else " ".join(run.words[at + 1 : at + size])
        role = next((one for one, names in run.launcher.roles.items() if name in names), name if name in _MORE else "")
        given.values[role] = word.partition("=")[0], value
        if (
            (role in dropped and not (run.launcher is mpirun.LAUNCHER and role in _NUMBERS and sources(value)))
            or (name in more and name not in kept)
            or (name == "rdzv_conf" and re.search("is_host|rdzv_", value))
        ):
            pass
        elif run.launcher is mpirun.LAUNCHER and sets_network(name, value):
            given.left += (" ".join(run.words[at : at + size]),)
        else:
            words += run.words[at : at + size]
        at += size
    words += run.words[at:]
    return given


def _is_option(launcher: Launcher, words: Sequence[str]) -> bool:
    """Whether the word behind an option is another one, because its value is empty."""
    name = "".join(words).partition("=")[0]
    return name.startswith("--") and launcher.name_of(name[2:]) in launcher.values | launcher.flags


def report_parts(draft: JobDraft, runs: Sequence[Run]) -> None:
    """Report a launcher for several nodes, if one pod has its starts on all of them."""
    of_node = [one for one in runs if one.by_srun and one.launcher is not None and one.nodes == 1]
    numbers = ((one, without_set(one).values.get(PODS, ("", ""))[1]) for one in of_node)
    parts = [one for one, number in numbers if number not in ("", "1", "1:1")]
    if any(one.background for one in parts[:-1]):
        program = source_text(parts[-1].words[parts[-1].at])
        message = f"`{program}` has other arguments on each node, and one pod has all of its starts"
        draft.cannot_run(parts[-1].place, message, "start it with the same arguments on all nodes")


def _after(inner: Step, step: Step) -> str:
    """What follows the failure of the last program of an `srun`."""
    return (
        step.otherwise or inner.otherwise if inner.otherwise.startswith(STATUS) else inner.otherwise or step.otherwise
    )


def kept_words(run: Run, *, parallel: bool) -> Sequence[str]:
    """The words of a program that a job can have."""
    given = Options([*run.words]) if run.launcher is None else without_set(run, parallel=parallel)
    if {base.CONFIG, base.ALL_PROCESSES} <= given.values.keys():
        return without_set(run, parallel=parallel, kept=(base.ALL_PROCESSES, base.PODS, BACKEND)).words
    return given.words


def is_left_out(step: Step, name: str, value: str) -> bool:
    """Whether a variable in front of a program is not in the job."""
    is_of_image = step.in_image and name in OF_LINKER and is_known(value)
    return is_of_machines(name) and name not in DEVICES and not is_of_image


def is_of_pod(value: str, others: set[str] | None = None) -> bool:
    """Whether the shell of each pod knows a value, with those of other variables."""
    known = GIVEN | {RUN_ID} | (others or set())
    calculated = {name for one in sources(value) for text in _CALCULATED.findall(one) for name in _NAME.findall(text)}
    parts = [_CALCULATED.sub("", one) for one in sources(value)]
    return all({*VARIABLE.findall(one)} <= known and "$(" not in one for one in parts) and calculated <= known


def parts_of(run: Run) -> Iterator[str]:
    """The parts of a program's words and variables that the shell of a pod expands."""
    return (part for word in (*run.words, *(value for _, value in run.assigned)) for part in sources(word))
