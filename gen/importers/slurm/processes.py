"""Numbers of pods and processes, and their ranks and addresses: of launchers, and of tasks of `srun` as those of MPI.

`mpirun` gives a process its numbers in variables of its own. Those that PyTorch reads have to come from the script.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from gen.base import Location, regex
from gen.base.findings import counted
from gen.importers import Fields
from gen.importers.draft import JobDraft
from gen.importers.slurm.allocation import allocation, layout_of
from gen.importers.slurm.conditions import OF_FILES
from gen.importers.slurm.expansion import MARKED, RUN, Value, is_known, marked, shown, source_text, sources
from gen.importers.slurm.exports import is_of_process, is_part
from gen.importers.slurm.launcher_options import (
    is_alone,
    left_backend,
    on_hosts,
    processes_of,
    starts_mpirun,
    with_processes,
)
from gen.importers.slurm.lines_of_runs import WIDE, of_program
from gen.importers.slurm.options import Option
from gen.importers.slurm.programs import BETWEEN, VARIABLE, Shell, Step, lacking_steps, text_of_words
from gen.importers.slurm.rank_shells import has_rank, in_outer_folder, of_launchers, report_rank, way_to_folder
from gen.importers.slurm.script import BatchScript
from gen.importers.slurm.shells import needs_bash
from gen.importers.slurm.site import (
    DEVICES,
    OF_KIND,
    OF_MACHINES,
    TASK,
    Layout,
    Site,
    is_of_machines,
    is_silent,
    selects_gpus,
)
from gen.importers.slurm.srun import carry_exclusive, gpus_of_step, set_at, uses_gpus, why_of_part
from gen.importers.slurm.srun_variables import NAMES as OF_SRUN
from gen.importers.slurm.steps import RENDEZVOUS, Options, Run, as_run, is_of_pod, parts_of, without_set
from gen.job.launchers import base, deepspeed, horovodrun, mpirun

OF_HOSTS: Final = (deepspeed.LAUNCHER, horovodrun.LAUNCHER)
"""Launchers that start the processes of several nodes with a file of hosts."""
_OF_RUN: Final = frozenset({RUN[1:-1], TASK[1:-1]})
"""Expressions, which have a value before a shell reads the command."""
OF_SHELL: Final = ((), ("cd",), ("trap",))
"""First words of commands that a shell runs itself."""


def of_tasks(nodes: int, per_node: int, *, by_mpi: bool) -> dict[str, str]:
    """The variables of Slurm in a task, as those of the pod or of `mpirun`."""
    if per_node == 1 and not by_mpi:
        rank = marked("$RANK") if nodes > 1 else "0"
        return {"SLURM_PROCID": rank, "SLURM_NODEID": rank, "SLURM_LOCALID": "0"}
    return {
        "SLURM_PROCID": marked("$OMPI_COMM_WORLD_RANK"),
        "SLURM_LOCALID": marked("$OMPI_COMM_WORLD_LOCAL_RANK"),
        "SLURM_NODEID": marked(f"$((OMPI_COMM_WORLD_RANK / {per_node}))" if per_node > 1 else "$OMPI_COMM_WORLD_RANK"),
    }


def starts_one_process(run: Run) -> bool:
    """Whether a program is `mpirun` with one process, which needs no other pod."""
    if run.launcher is not mpirun.LAUNCHER:
        return False
    values = without_set(run).values
    return values.get(base.ALL_PROCESSES, ("", ""))[1] == "1" and base.PROCESSES not in values


def use_mpi(steps: Sequence[Step], nodes: int) -> bool:
    """Whether programs need the hosts of `mpirun`."""
    runs = [*map(as_run, steps)]
    started = [run for run in runs if run.launcher is mpirun.LAUNCHER]
    in_texts = nodes > 1 and any(map(starts_mpirun, runs))
    return in_texts or any(nodes > 1 or not starts_one_process(one) for one in started)


def in_one_pod(runs: list[Run], layout: Layout) -> list[Run]:
    """The programs of one node, with each `mpirun` as it is if all of them start one process."""
    others = any(one.launcher is mpirun.LAUNCHER and not starts_one_process(one) for one in runs)
    if layout.nodes > 1 or others or any(is_of_mpi(one, layout) and one.launcher is None for one in runs):
        return runs
    return [replace(one, launcher=None, at=0) if starts_one_process(one) else one for one in runs]


def is_of_mpi(run: Run, layout: Layout) -> bool:
    """Whether a program needs `mpirun`, or the hosts of its operator."""
    if run.launcher in (*OF_HOSTS, mpirun.LAUNCHER):
        return run.launcher is mpirun.LAUNCHER or layout.nodes > 1
    if run.text and layout.nodes > 1 and starts_mpirun(run):
        return True
    is_program = run.words[:1] not in OF_SHELL or "<<" in run.text.partition("\n")[0].replace("<<<", "")
    return run.launcher is None and run.by_srun and is_program and max(layout.per_node, run.per_node) > 1


def by_mpirun(draft: JobDraft, script: BatchScript, run: Run, layout: Layout, outer: str) -> Run:
    """A program that `srun` starts, started by `mpirun`, and by a shell if only that knows its rank.

    The shell of the launcher has the variables that the script keeps and the address of the first host, and computes
    outputs of the batch part once. It is in the folder `outer`, if only a process knows that of the program.
    """
    kept = script.kept | script.from_text | {*RENDEZVOUS}

    def of_launcher(part: str) -> bool:
        known = "$(" not in part and VARIABLE.search(part) is not None
        return {*VARIABLE.findall(part)} <= kept and (known or part in script.once)

    run = _as_process(run)
    is_even = run.nodes == layout.nodes and run.tasks == run.nodes * run.per_node
    start = ("mpirun", *(numbers(layout, run.per_node, 0) if is_even else numbers(layout, 0, run.tasks)))
    ranks_of_task = _ranks_of_task(run)
    sizes = [one for one in run.assigned if one[0] in OF_KIND.difference(RENDEZVOUS) and is_known(one[1])]
    ranks_of_task += [one for one in of_program(run) if _OF_PROCESS.search(one[1]) and one not in ranks_of_task]
    own = [one for one in (*of_program(run), *sizes) if one not in ranks_of_task]
    start += tuple(word for name, value in own for word in ("-x", f"{name}={value}"))
    run = replace(run, assigned=tuple(ranks_of_task))
    parts = _plain_parts(run)
    passed = {name for one in parts for name in VARIABLE.findall(one)} & (script.kept | script.from_text)
    moves = [way_to_folder(run, outer)] if has_rank(run.folder) else []
    run = in_outer_folder(draft, run, outer) if moves else run
    if all(map(of_launcher, parts)) and not moves:
        return replace(run, words=(*start, *run.words))
    start += tuple(word for name in sorted(passed) for word in ("-x", name + "=" + marked(f'"${name}"')))
    shell = "bash" if needs_bash("", parts) else "sh"
    ranks = [f"{name}={shown(value)}" for name, value in run.assigned]
    ranks = [*moves, *ranks]
    text, behind = [*ranks, *text_of_words(run.words)], tuple[str, ...]()
    of_words = [{one.strip('"') for one in sources(word)} - _OF_RUN for word in run.words]
    first = next((at for at, one in enumerate(of_words) if not all(map(of_launcher, one))), len(of_words))
    first -= first > 1 and run.words[first - 1][:1] == "-" and "=" not in run.words[first - 1]  # with its option
    rest, late = [*map(shown, run.words[first:])], {one for some in of_words[first:] for one in some}
    once = script.once & late.union(*of_words)
    if first and len(" ".join(rest)) < WIDE and (len(" ".join(text)) > WIDE or once - late):
        text, behind = [*ranks, 'exec "$@"', *rest], (shell, *run.words[:first])  # options stay on lines of their own
    for part in sorted(once & late if behind else once):
        what, hint = f"the single start of `{part[:60]}`", "compute it in a line before, into an exported variable"
        draft.drop(run.place, what, "each process computes it", hint)
    return replace(run, words=(*start, shell, "-c", source_text(" ".join(text)), *behind), assigned=())


_OF_PROCESS: Final = regex(r"OMPI_COMM_WORLD|\$\(hostname")
"""Values that only a process knows, and not the shell of `mpirun`."""


def _plain_parts(run: Run) -> set[str]:
    """The parts that a shell expands, without quotes and expressions."""
    of_folder = sources(run.folder) if has_rank(run.folder) else ()
    return {one.strip('"') for one in (*parts_of(run), *of_folder)} - _OF_RUN


def _as_process(run: Run) -> Run:
    """A program that `srun` starts once on each node, with the rank that `mpirun` gives instead of that of a pod."""

    def own(value: Value) -> Value:
        if not isinstance(value, str):
            return value
        return MARKED.sub(lambda match: re.sub(r"\bRANK\b", "OMPI_COMM_WORLD_RANK", match[0]), value)

    return replace(
        run,
        words=tuple(str(own(word)) for word in run.words),
        assigned=tuple((name, str(own(value))) for name, value in run.assigned),
        exported={name: own(value) for name, value in run.exported.items()},
        folder=str(own(run.folder)),
    )


def numbers(layout: Layout, per_node: int, total: int) -> tuple[str, ...]:
    """Options of `mpirun` for other numbers of processes than one in each slot."""
    known = (("-npernode", per_node, layout.per_node), ("-np", total, layout.nodes * layout.per_node))
    for name, number, slots in known:
        if number and number != slots:
            return (name, str(number), *(("--oversubscribe",) if number > slots else ()))
    return ()


def for_all_pods(draft: JobDraft, run: Run, given: Options, layout: Layout) -> Run:
    """A launcher that starts the processes of all pods."""
    if run.by_srun and run.tasks > 1:
        what, hint = f"{run.tasks} starts of `{run.words[run.at]}`", "start it once, without `srun`"
        draft.drop(run.place, what, "one start reaches the processes of all pods", hint)
    options: tuple[str, ...] = ("--hostfile", "/etc/mpi/hostfile")
    if run.launcher is mpirun.LAUNCHER:
        told = (given.processes, given.values.get(base.ALL_PROCESSES, ("", ""))[1])
        per_node, total = (int(f"0{one}"[:7]) if one.isdecimal() else 0 for one in told)
        options = numbers(layout, per_node, 0 if per_node else total)
    for one in given.left:
        draft.drop(run.place, f"`{one[:60]}`", *OF_MACHINES)
    return replace(run, words=(*given.words[: run.at + 1], *options, *given.words[run.at + 1 :]))


_BY_GPU: Final = {"cpus-per-gpu": "cpu", "mem-per-gpu": "memory"}
_MOST: Final = 16
"""GPUs that a node can have."""


def whole_nodes(
    draft: JobDraft, options: Sequence[Option], of_step: Sequence[Option], runs: Sequence[Run], site: Site, source: str
) -> None:
    """GPUs of a script without `--gres`: those that its launcher starts, or of a whole node; and its sizes."""
    if "gpus" in draft.fields:
        carry_exclusive(draft, options, of_step, site)
        return
    launchers = [one for one in runs if one.launcher not in (None, mpirun.LAUNCHER, horovodrun.LAUNCHER)]
    told = [processes_of(without_set(one))[1] for one in launchers]
    number = next((int(one[:6]) for one in told if one.isdecimal() and int(one)), 0)
    exclusive, of_gpus = any(one.name == "exclusive" for one in options), uses_gpus((*options, *of_step), source)
    whole = exclusive or any(one.name == "mem" and one.value == "0" for one in options)
    wanted = exclusive or (whole and of_gpus) or launchers or (of_gpus and any(one.launcher for one in runs))
    hidden = any(one.exported.get("NVIDIA_VISIBLE_DEVICES") in ("void", "none") for one in runs)
    of_cpus = hidden or number > int(site.nodes.get("gpus") or _MOST)
    if not of_cpus and (number or (site.nodes.get("gpus") and wanted)):
        draft.set(number or int(site.nodes["gpus"]), "gpus", place=draft.place)
    gpus = Option("gpus-per-node", str(draft.fields.get("gpus", 0)), draft.place)
    _, sized = allocation([*options, *of_step, gpus])
    for one in {one.name: one for one in (*options, *of_step) if one.name in _BY_GPU}.values():
        field = _BY_GPU[one.name]
        if field in sized:
            draft.set(sized[field], field, place=one.place)
        else:
            hint = f"set `{field}`, or the GPUs of a node in a site file"
            draft.drop(one.place, f"`--{one.name}`", "the script has no number of GPUs", hint)
    sizes: Fields = {name: site.nodes[name] for name in ("cpu", "memory") if whole and name in site.nodes}
    if not (of_gpus or launchers or "gpus" in draft.fields) and (tasks := layout_of(options).per_node) > 1:
        sizes.setdefault("cpu", tasks)  # Slurm gives one to each
    draft.fields |= {name: size for name, size in sizes.items() if name not in draft.fields}
    carry_exclusive(draft, options, of_step, site)


def side_by_side(draft: JobDraft, options: Sequence[Option], runs: Sequence[Run]) -> list[Run]:
    """The programs with the GPUs that `srun` gives them. Programs that run at the same time have other ones."""
    layout, fields = allocation(options)
    made: list[Run] = []
    in_one_pod = all(one.nodes < layout.nodes for one in runs if one.by_srun) or layout.nodes == 1
    first, running, behind = 0, False, {run.shells[:1]: run.background for run in runs if run.shells}
    of_shells: dict[tuple[Shell, ...], tuple[str, str]] = {}
    most = [
        gpus_of_step(one) or fields.get("gpus", 0) for one in runs if one.by_srun and one.nodes == layout.nodes == 1
    ]
    if "gpus" in draft.fields and most:
        draft.fields["gpus"] = max(draft.fields["gpus"], *most)
    for run in runs:
        if run.words[:1] == ("wait",):
            first, running = 0, False
        starts = run.by_srun and run.words != () and run.per_node == run.nodes == 1 and in_one_pod
        known = of_shells.get(run.shells)
        made.append(run if known is None else replace(run, assigned=(known, *run.assigned)))
        running = running or (starts and not known and (run.background or behind.get(run.shells[:1], False)))
        if not starts or known or not (running or layout.nodes == 1):
            continue
        if running:
            draft.fields |= {name: fields[name] for name in ("cpu", "gpus", "memory") if name in fields}
        every, own = int(draft.fields.get("gpus", 0)), gpus_of_step(run)
        if 0 < own < every and not DEVICES & {name for name, _ in run.assigned}:
            if first + own > every:
                first = 0
                if layout.nodes == 1:  # other nodes are reported
                    what, hint = f"the wait for {counted(own, 'free GPU')}", "write `wait` before it in `command`"
                    draft.drop(run.place, what, f"all programs start at once, on {counted(every, 'GPU')}", hint)
            devices = "CUDA_VISIBLE_DEVICES", ",".join(map(str, range(first, first + own)))
            of_shells |= {run.shells: devices} if run.shells else {}
            made[-1] = replace(run, assigned=(devices, *run.assigned))
            first += own if running else 0
    return made


def for_kind(draft: JobDraft, script: BatchScript, runs: Sequence[Run], layout: Layout) -> list[Run]:
    """The programs for the pods of the job. Their launchers decide the kind."""
    parallel = layout.nodes == 1 and any(one.background and one.launcher is not None for one in runs)
    folders = of_launchers(runs)
    return [
        _for_kind(draft, script, one, layout, outer, parallel=parallel)
        for one, outer in zip(runs, folders, strict=True)
    ]


def _for_kind(draft: JobDraft, script: BatchScript, run: Run, layout: Layout, outer: str, *, parallel: bool) -> Run:
    """A program for the pods of the job. Its launcher decides the kind."""
    of_mpi = draft.fields["kind"] == "mpi"
    if run.launcher is None:
        run = on_hosts(draft, run, layout) if of_mpi and run.text and layout.nodes > 1 else run
        in_tasks = of_mpi and run.by_srun and run.words[:1] not in OF_SHELL
        report_rank(draft, run, in_tasks=in_tasks)
        return by_mpirun(draft, script, run, layout, outer) if in_tasks else run
    program = run.words[run.at].rpartition("/")[2]
    given = without_set(run, parallel=parallel)
    if run.launcher is mpirun.LAUNCHER or (run.launcher in OF_HOSTS and layout.nodes > 1):
        return for_all_pods(draft, run, given, layout)
    alone = is_alone(run, given) and layout.nodes > 1 and not of_mpi
    if run.launcher is horovodrun.LAUNCHER or alone:
        return run if alone else replace(run, words=tuple(given.words))
    if of_mpi and run.by_srun and layout.nodes > 1:
        message = f"`{program}` starts in one pod only, because the script starts other programs with MPI"
        draft.cannot_run(run.place, message, "import the script without the other programs")
    if layout.nodes > 1 and run.by_srun and not of_mpi:
        draft.set("pytorch", "kind")
    if run.by_srun and run.per_node > 1:
        what = f"{run.per_node} starts of `{program}` on each node"
        hint = "set `--ntasks-per-node=1`, and the processes of the launcher"
        draft.drop(run.place, what, "each pod starts it once", hint)
    words = with_processes(run, given, int(draft.fields.get("gpus", 0)), layout.nodes if run.by_srun else 1)
    if backend := left_backend(run, given, words):
        hint = "write it into `command`, with `--num_machines`, `--machine_rank` and `--main_process_ip`"
        draft.drop(run.place, f"`{backend}`", "it needs the number of processes, which gen does not know", hint)
    told = ("processes", processes_of(given)[1], "gpus"), ("nodes", given.values.get(base.PODS, ("", ""))[1], "workers")
    for name, number, field in (one for one in told if one[1] not in words):
        if {one[1:] for one in sources(number)} & script.from_text or re.search(r"\$\(|\$\{\w+\W*[^\w}]", number):
            why, hint = "only a shell computes it, and the job has its own", f"set `{field}` to it"
            draft.drop(run.place, f"the number of {name} `{shown(number)[:60]}`", why, hint)
    return replace(run, words=tuple(words))


def of_training(of_step: list[Option], runs: Sequence[Run], of_script: Layout) -> list[Option]:
    """The options of the training. Programs that run at the same time share all CPUs of the script."""
    tasks = next((int(one.value[:6]) for one in of_step if one.name == "ntasks" and one.value.isdecimal()), 0)
    if not (of_script.nodes < tasks < of_script.tasks and _run_together(runs)):
        return of_step
    sizes = ("cpus-per-task", "nodes", "ntasks", "ntasks-per-node")
    return [one for one in of_step if one.name not in sizes]


def _run_together(runs: Sequence[Run]) -> bool:
    """Whether a program of `srun` starts while another one runs."""
    running = False
    for one in runs:
        if running and one.by_srun:
            return True
        running = one.words != ("wait",) and (running or (one.by_srun and one.background))
    return False


def set_sizes(draft: JobDraft, runs: Sequence[Run], layout: Layout) -> Layout:
    """Set the kind and its sizes if a program needs MPI. Returns the sizes that its launchers give."""
    slots = {without_set(one).processes for one in runs if one.launcher is mpirun.LAUNCHER}
    if len(slots) == 1 and (number := slots.pop()).isdecimal() and not any(one.by_srun for one in runs):
        layout = replace(layout, per_node=int(number[:4]))
    for one in (run for run in runs if run.launcher is horovodrun.LAUNCHER):
        every = without_set(one).values.get(base.ALL_PROCESSES, ("", ""))[1]
        if every.isdecimal():
            layout = replace(layout, per_node=max(layout.per_node, -(-int(every[:6]) // layout.nodes)))
    if layout.nodes > 1 and any(one.launcher is deepspeed.LAUNCHER for one in runs):
        layout = replace(layout, per_node=int(draft.fields.get("gpus") or layout.per_node))  # as its file of hosts has
    if not any(is_of_mpi(one, layout) for one in runs):
        return layout
    draft.set("mpi", "kind")
    if layout.nodes > 1:
        draft.set(layout.nodes, "workers")
    draft.set(max(layout.per_node, 1), "slotsPerWorker", place=draft.place)
    for role, value in (("cpu", 1), ("memory", "2Gi")):
        if role in draft.fields:
            draft.fields.setdefault("roles", {}).setdefault("launcher", {})[role] = value
    return layout


def _ranks_of_task(run: Run) -> list[tuple[str, str]]:
    """The variables of a program, such as its rank and its GPUs, that only the shell of each task knows."""
    if run.words[:1] == () or is_silent(run.words[0]) or run.words[0] in OF_FILES:
        return []
    given = {name: value for name, value in run.exported.items() if isinstance(value, str)} | dict(run.assigned)
    of_task = [name for name in given if name not in RENDEZVOUS and is_of_process(name, given[name])]
    return [(name, given[name]) for name in of_task if given[name] != marked(f"${name}")]


def with_own_variables(draft: JobDraft, script: BatchScript, runs: list[Run]) -> list[Run]:
    """The programs with their values of variables that differ from those of the last one, which the job has."""
    runs = [run.with_local_variables() for run in runs]
    end = runs[-1].exported
    runs = [replace(one, exported=end) if one.words[:1] == ("trap",) else one for one in runs]
    last, now = {name: str(value) for name, value in end.items()}, {**end}
    script.exported = {name: script.exported.get(name) or set_at(script, name, runs[-1].place) for name in now}
    script.variables |= now
    outer = {name: script.constants[name] for name in now if name in script.constants}
    changed, lost = set[str](), dict[str, tuple[Location, str]]()
    alone = {name: one for name, one in last.items() if _OF_ITSELF.search(one) and name not in dict(runs[-1].assigned)}
    alone = {name: one for name, one in alone.items() if _is_own(name, one, script, runs[-1], runs)}
    script.exported = {name: one for name, one in script.exported.items() if name not in alone}
    made: list[Run] = []
    for run in runs:
        given = ((name, str(one)) for name, one in {**outer, **run.exported}.items() if one != now.get(name))
        left = ((name, one) for name, one in given if not ({name} & dict(run.assigned).keys() or reads_none(run)))
        pairs = [*left, *((name, one) for name, one in alone.items() if run is runs[-1])]
        own = tuple((name, one) for name, one in pairs if _is_own(name, one, script, run, runs))
        others = [(name, one) for name, one in pairs if name not in {**dict(own), **last, **lost}]
        lost |= {name: (set_at(script, name, run.place), one) for name, one in others}
        in_shell = dict(one for one in own if run.text or one[0] in changed)
        if in_shell:
            text = " ".join(("export", *(f"{name}={shown(value)}" for name, value in in_shell.items())))
            made.append(Run(text=text, place=run.place, folder=run.folder, entered=run.entered))
            now |= in_shell
            changed |= in_shell.keys()
        of_tasks = [one for one in own if one[0] not in in_shell or (run.by_srun and one[1] != last.get(one[0]))]
        made += [as_run(one) for one in lacking_steps(script.steps, made, " ".join(dict(own).values()), run.place.line)]
        made.append(run if run.text else replace(run, assigned=(*of_tasks, *run.assigned)))
    for name, (place, value) in lost.items():
        if is_of_machines(name) and name not in DEVICES | OF_SRUN and not name.startswith("SLURM_"):
            draft.drop(place, f"the variable `{name}`", *OF_MACHINES)
        elif not (name in OF_KIND | DEVICES | OF_SRUN or name in script.secrets or name.startswith("SLURM_")):
            is_text = is_part(name, value, script, runs)
            why = why_of_part(value)[0] if is_text else "its value is known only on the machines"
            draft.drop(place, f"the variable `{name}`", why, "write it in front of the program, if that reads it")
    return made


def reads_none(run: Run) -> bool:
    """Whether a program reads no variables."""
    return run.words[:1] in BETWEEN or bool({*run.words[:1]} & OF_FILES)


def _is_own(name: str, value: str, script: BatchScript, run: Run, runs: Sequence[Run]) -> bool:
    """Whether a program gets a value of its own for a variable. The shell computes one for a single program."""
    of_kind = name in OF_KIND and (name in RENDEZVOUS or run.launcher is not None or not run.by_srun)
    of_machines = is_of_machines(name) and not selects_gpus(name, value)
    if of_kind or of_machines or name in script.secrets or is_part(name, value, script, [run]):
        return False
    others = [one for one in runs if one.exported.get(name) == value and not reads_none(one)]
    single = len(others) == 1 or "$(" not in value.replace("$(hostname)", "").replace("$((", "")
    return is_known(value.replace(RUN, "")) or (single and is_of_pod(value.replace("$(", "("), script.from_text))


_OF_ITSELF: Final = regex(r"\$\((?!\()|OMPI_COMM_WORLD")
"""A value that the shell of a program computes, and `env` of the job cannot have."""
