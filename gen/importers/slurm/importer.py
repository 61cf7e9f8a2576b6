"""`gen import slurm`: batch scripts as jobs. Nothing in them is run."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar, Final

from gen.base import Findings, Location, regex
from gen.base.codes.imports import INVALID_COMMAND_LINE
from gen.importers import ImportedJob, Importer, ImportInput
from gen.importers.draft import JobDraft, is_secret
from gen.importers.slurm import exports, launcher_pod, pod_numbers, processes, rank_shells, reports, shells, steps
from gen.importers.slurm.allocation import carry, in_limits, layout_of
from gen.importers.slurm.bash_text import cut, expanded_part, without_heredocs
from gen.importers.slurm.containers import (
    Lacking,
    carry_containers,
    carry_folder,
    container_words,
    in_container,
    mount_folders,
    report_runscripts,
)
from gen.importers.slurm.expansion import START, is_known, marked, shown, source_text
from gen.importers.slurm.images import image_files, named_images, options_of_steps
from gen.importers.slurm.lines_of_runs import WIDE, line_of, text_of_command
from gen.importers.slurm.options import Option, directives
from gen.importers.slurm.outputs import results_of, without_idle_separators
from gen.importers.slurm.outside import (
    report_arguments,
    report_languages,
    with_values,
    without_mount_values,
)
from gen.importers.slurm.placeholders import (
    report_braces,
    report_incomplete,
    report_placeholders,
    with_given_values,
    without_placeholders,
)
from gen.importers.slurm.programs import BETWEEN, Step, log_files
from gen.importers.slurm.refusals import (
    as_shown,
    gives_up,
    refuse_empty,
    remedy_of_options,
    report_template,
    report_unread,
)
from gen.importers.slurm.script import BatchScript, follow_script
from gen.importers.slurm.site import (
    TEMPLATE,
    Layout,
    Site,
    constants,
    named_draft,
    read_site,
)
from gen.importers.slurm.srun import (
    WITHOUT_HOSTS,
    exported_by,
    lost_nodes,
    remedy_of_file,
    starts_ray,
    with_nodes,
)
from gen.importers.slurm.steps import Run
from gen.importers.slurm.task_comparison import compare_tasks
from gen.importers.slurm.traps import INNER_SRUN, with_traps
from gen.importers.slurm.written_files import WrittenFiles, carry_files
from gen.kubernetes.objects import Body

_MARKS: Final = regex("[\ue000-\ue004]")
"""Characters that enclose what only a pod knows, here."""
_TEMPORARY: Final = "SLURM_TMPDIR"
"""A folder that Slurm gives the programs of sites with its plugin, too, and not only the script."""
_ON_ALL: Final = "remove `--nodes` and `--ntasks` of `srun`, or set `workers`"
_IN_ARRAY: Final = "import a script for each of them, or one with `#SBATCH --array` that starts one in each task"


class SlurmImporter(Importer):
    """A script for `sbatch`."""

    summary: ClassVar[str] = "a batch script of Slurm, with its `#SBATCH` lines"
    options: ClassVar[frozenset[str]] = frozenset({"image", "name", "define", "site", "site_template", "prove"})

    def read(self, given: ImportInput, found: Findings) -> Sequence[ImportedJob]:
        job, _ = read_script(given, found)
        return () if job is None else (job,)

    def compare_tasks(
        self, given: ImportInput, job: ImportedJob, runs: Sequence[Body], found: Findings
    ) -> tuple[str, bool]:
        return compare_tasks(given, job, runs, found)


def read_script(given: ImportInput, found: Findings) -> tuple[ImportedJob | None, Lacking]:
    """The job of a script, and its missing values."""
    own = Findings()
    job, lacking = _read(given, own, as_sweep=False)
    if job is not None and "array" in job.fields and job.fields["kind"] != "batch":  # which has numbers for its pods
        own = Findings()
        job, lacking = _read(given, own, as_sweep=True)
    found.extend(own.items)
    return job, lacking


def _read(given: ImportInput, found: Findings, *, as_sweep: bool) -> tuple[ImportedJob | None, Lacking]:
    """Read a script, whose tasks of an array can be the runs of a sweep instead of pods."""
    lacking = Lacking()
    text = _MARKS.sub("", given.text.replace("\r\n", "\n"))
    site = read_site(given.site[1], given.site[0], found) if given.site is not None else Site()
    values = {**site.define, **given.define}
    hidden = {name: value for name, value in values.items() if is_secret(name, value)}
    values |= {name: marked(f"${name}") for name in hidden}
    unfinished = site.open_values({*given.define, *hidden})
    text, marks = without_placeholders(text, values | unfinished)
    options, start = directives(text, given.file, found)
    of_site = {name: one for name, one in site.places.items() if name in site.define.keys() - given.define.keys()}
    options = [with_values(one, values, of_site) for one in options]
    options = [one for one in options if one.place not in map(of_site.get, unfinished)]
    options = with_nodes(options, values, site.nodes, found)
    values |= unfinished
    place = Location(given.file)
    if not options and not TEMPLATE.search(text):
        found.error(
            INVALID_COMMAND_LINE, place, "no `#SBATCH` line found before the first command", remedy_of_options(text)
        )
        return None, lacking
    namespace = given.namespace_of("")
    if not namespace:
        hint = "choose the namespace of all jobs with `gen import --namespace`"
        found.error(INVALID_COMMAND_LINE, place, "the script names no namespace", hint)
        return None, lacking
    stem = posixpath.splitext(posixpath.basename(given.file))[0]
    named = next(((one.value, one.place) for one in reversed(options) if one.name == "job-name"), ("", place))
    draft = named_draft(given, namespace, named, stem, found)
    body = with_given_values("\n".join(text.split("\n")[start:]), values, {*hidden, *unfinished})
    known = constants(draft.name, layout_of(options, as_sweep=as_sweep), {**exported_by(options), **values})

    def reader() -> BatchScript:
        script = BatchScript(given.file, known, first_line=start + 1)
        script.logs = log_files(draft.name, (one.value for one in options if one.name in ("output", "error")))
        script.log_folders = {posixpath.dirname(one.value) for one in options if one.name in ("output", "error")}
        script.origin = values.get("PWD", START) if all(one.name != "chdir" for one in options) else START
        script.volumes = site.paths.keys()
        script.stops = re.match(r"#!\S*sh\s+-\w*e", text) is not None
        return script

    script = follow_script(reader, body)
    _ignored_options(draft, text, start)
    script.secrets |= {name: (value, place) for name, value in hidden.items()}
    if gives_up(script, found, lacking):
        return None, lacking
    asked = named_images(script)
    image = given.image or site.image
    own = " ".join(asked)  # the images, which have a finding
    report_template(draft, text)
    report_placeholders(draft, (one for one in marks if not (image or one.is_text) or one.text not in own))
    report_incomplete(draft, text, site, unfinished)
    _translate(draft, script, options, image, site, lacking, as_sweep=as_sweep)
    lacking.values += script.needed_values
    lacking.images = image_files(asked, script)
    if "command" in draft.fields:
        _set_temporary(draft, given.text, values)
        report_unread(draft, script)
    return draft.finished(f"Imported from the Slurm script {stem}."), lacking


def _set_temporary(draft: JobDraft, text: str, values: Mapping[str, str]) -> None:
    """Set the variable of a temporary folder that a script reads, because its programs can read it, too."""
    if _TEMPORARY in values and _TEMPORARY in text:
        draft.variable(_TEMPORARY, values[_TEMPORARY], draft.place)


def _ignored_options(draft: JobDraft, text: str, start: int) -> None:
    """Report the `#SBATCH` lines behind the first command, which is at a line from 0."""
    for number, line in enumerate(without_heredocs(text).split("\n")[start:], start + 1):
        if line.lstrip().startswith("#SBATCH"):
            why = "Slurm ignores it behind the first command"
            draft.drop(Location(draft.place.file, number), f"`{line.strip()}`", why, "remove it")


def _translate(
    draft: JobDraft,
    script: BatchScript,
    options: list[Option],
    image: str,
    site: Site,
    lacking: Lacking,
    *,
    as_sweep: bool,
) -> None:
    """Set the fields of the job."""
    of_script = layout_of(options, as_sweep=as_sweep)
    by_mpi = processes.use_mpi(script.steps, of_script.nodes)
    script.steps += _results(script) if of_script.nodes == 1 and not by_mpi else ()
    ranks = partial(processes.of_tasks, of_script.nodes, by_mpi=by_mpi)
    runs, of_step = steps.runs_of(script, ranks, of_script, draft.found)
    runs = _with_written(draft, script, runs)
    for place in dict.fromkeys(script.status_arguments):
        message = "a program has the status of another one among its arguments, and it counts as 0"
        draft.cannot_run(place, message, "read the status in the program itself, or write both into `command`")
    of_step = in_limits(script, options, processes.of_training(of_step, runs, of_script))
    script.container_words = container_words(script)
    layout = _with_options(draft, options, of_step, site, as_sweep=as_sweep)
    last = {one.name: one for one in (*options, *of_step)}
    mounted = carry_containers(draft, last, script, image, site, lacking)
    report_runscripts(draft, script, runs)
    starts_none = all(script.only_prepares(one) for one in runs)
    left = () if starts_none and script.submitted else script.left  # of a job that is written
    for one in dict.fromkeys(one for one in left if not one.of_pods):
        draft.drop(one.place, as_shown(one.what), one.why, one.hint)
    mounts = [one.value for one in of_step if one.name == "container-mounts"] + [one for one, _ in script.mounts]
    runs = runs and processes.with_own_variables(draft, script, runs)
    runs = [*in_container(runs, ",".join(mounts).split(","), script.copies)]
    if starts_none:
        refuse_empty(draft, script, lacking)
        return
    report_arguments(draft, script, [(one, one.at, one.launcher is not None) for one in runs], lacking)
    runs = processes.side_by_side(draft, options, processes.in_one_pod(runs, layout))
    runs = pod_numbers.with_own_gpus(draft, options, runs)
    processes.whole_nodes(draft, options, of_step, runs, site, script.source)
    layout = processes.set_sizes(draft, runs, layout)
    started = carry_files(draft, script, runs)
    started = rank_shells.in_own_shells(started) if draft.fields["kind"] == "mpi" else started
    steps.report_parts(draft, started)
    runs = [pod_numbers.with_numbers(draft, one) for one in processes.for_kind(draft, script, started, layout)]
    if "gpus" in draft.fields and draft.fields["gpus"] == draft.fields.get("slotsPerWorker"):
        del draft.fields["slotsPerWorker"]  # the default
    runs = exports.variables(draft, script, runs)
    _order(draft, runs, layout, of_script.nodes, script)
    for name, (value, place) in script.secrets.items():
        draft.set(draft.hidden(name, value, place, given=is_known(value)), "env", name, place=place)
    if draft.fields["kind"] == "mpi":
        runs = launcher_pod.with_first_host(script, launcher_pod.in_one_start(runs))
    runs, text = _set_command(draft, script, options, layout, runs)
    if script.unreadable is None:  # findings about the rest would be wrong
        _report(draft, script, site, runs, started, text, mounted, lacking)


def _set_command(
    draft: JobDraft, script: BatchScript, options: Sequence[Option], layout: Layout, runs: Sequence[Run]
) -> tuple[list[Run], str]:
    """Set the command, with the shells that its programs need. Returns its programs and its text."""
    arrays = _arrays(draft, script, runs)
    runs = shells.with_shells(draft, with_traps(exports.set_once(draft, runs, arrays), script.folder))
    runs = [*arrays, *shells.in_folders(draft, script, runs)]
    runs = shells.with_stops(script, without_idle_separators(runs))
    lines = shells.lines_of_shells(runs)
    report_braces(draft, (one.value for one in options), runs)
    text = text_of_command(lines)
    _array(draft, layout, text)
    _requeue(draft, {one.name: one for one in options})
    bash = any(
        shells.needs_bash(one.text or " ".join(one.words[:2]), steps.parts_of(one))
        or shells.starts_unknown(script, one)
        for one in runs
    )
    draft.set(["bash", "-c", text] if bash else text, "command", place=runs[-1].place)
    draft.place_lines("command", text, (one.place for one in lines for _ in line_of(one).split("\n")))
    return runs, text


def _report(
    draft: JobDraft,
    script: BatchScript,
    site: Site,
    runs: Sequence[Run],
    started: Sequence[Run],
    text: str,
    mounted: list[str],
    lacking: Lacking,
) -> None:
    """Report parts that the pods of the job do not have. `started` are its programs before shells are around them."""
    reports.report_outside(draft, script, runs)
    mount_folders(draft, "\n" * (script.first_line - 1) + script.source, site, lacking, runs, mounted)
    launcher_pod.report_launcher(draft, runs, script.of_pod)
    reports.report_results(draft, started)
    reports.report_ranks(draft, script.source, started, "\n".join((text, *(one for one, _ in script.files.values()))))
    _lacking(draft, script, runs, lacking)
    reports.report_shells(draft, script, runs)


def _with_options(
    draft: JobDraft, options: list[Option], of_step: list[Option], site: Site, *, as_sweep: bool
) -> Layout:
    """Set the fields of options."""
    layout = carry(draft, options, of_step, site, as_sweep=as_sweep)
    carry_folder(draft, options)
    exports.carry_export(draft, options)
    return layout


def _results(script: BatchScript) -> list[Step]:
    """The lines at the end of the script that show files of its programs."""
    others = {*script.written, *script.logs}
    return results_of(script.steps, script.shown, others) if script.ended is None else []


def _with_written(draft: JobDraft, script: BatchScript, runs: list[Run]) -> list[Run]:
    """The programs with the files that the script writes for them."""
    parallel = any(one.background and one.launcher is not None for one in runs)
    own = (one.value for name in ("output", "error") for one in options_of_steps(script.steps, name))
    folders = {*script.log_folders, *map(posixpath.dirname, own)}
    words_of = partial(steps.kept_words, parallel=parallel)
    written = WrittenFiles(script.written, script.variables, words_of, script.log_links, folders)
    runs = written.carried(runs)
    script.files |= written.files
    script.left += written.left
    for place, what, hint in written.missing:
        draft.cannot_run(place, as_shown(what), remedy_of_file(script, place, hint))
    return without_mount_values(script, runs)


def _lacking(draft: JobDraft, script: BatchScript, runs: Sequence[Run], lacking: Lacking) -> None:
    """Report the values that no pod has."""
    outer = re.sub(r"\\\$|(?m:^\s*#.*)", "", expanded_part(script.source))  # without what shells in containers expand
    for name, place in reports.unknown(draft, script, runs).items():
        case = "sets it only in a case that gen does not take" if name in script.untaken else "gets it from outside"
        why, hint = f"the script {case}", f"give it with `--define {name}=VALUE`, or in `define` of a site file"
        in_container = script.container_words and re.search(rf"\$\{{?{name}\b", outer) is None
        if in_container and not name.startswith("SLURM_"):
            hint = f"check that the image of the job sets it, or give it with `--define {name}=VALUE`"
            draft.drop(place, f"`${name}` of the container", "the image of the script may set it", hint)
            continue
        if name == "SLURM_ARRAY_TASK_ID":
            why, hint = "the script has no `--array`", f"add it, or give one task with `--define {name}=VALUE`"
        elif script.lists_nodes(name):
            why, hint = "it is a list of nodes", WITHOUT_HOSTS
        elif name not in script.variables or (name in script.early and marked(f"${name}") in script.variables[name]):
            lacking.values += [] if name.startswith("SLURM_") else [name]
        elif name in script.early:
            why, hint = "the script sets it only in a later line", "set it before, or remove it"
        elif source := script.read_from.get(name, ""):
            why = f"the script reads it from `${source}`, which it gets from outside"
            hint = f"give it with `--define {source}=VALUE`, or in `define` of a site file"
            lacking.values.append(source)
        elif name in script.computed or not all(map(is_known, script.variables[name])):
            why = "the script reads it from a file or a program"
            hint = "write its value into the script, or a line into `command` that computes it"
        else:
            why = "the script does not export it, or gen cannot compute it"
            hint = "write its value into the command, or export it"
        draft.cannot_run(place, f"`${name}` has no value in a pod: {why}", hint)
    report_languages(draft, runs)


def _arrays(draft: JobDraft, script: BatchScript, runs: Sequence[Run]) -> list[Run]:
    """Assignments of the arrays with items that the pods choose."""
    words_of = (source_text(word) for one in runs for word in (*one.words, one.folder))
    texts = " ".join([*words_of, *(one.text for one in runs)])
    made = []
    for name, values in script.indexed.items():
        if f"${{{name}[" in texts:
            words = [shown(one) for one in values]
            whole = " ".join(words)
            inner = whole if len(whole) <= WIDE else "\n  ".join(["", *words]) + "\n"
            declares = "declare -A " if name in script.keyed else ""
            made.append(Run(words=(), text=f"{declares}{name}=({inner})", place=runs[0].place))
    if made and draft.fields["kind"] == "mpi":
        why = "the tasks of a job of kind `mpi` cannot take different items of an array"
        draft.cannot_run(runs[-1].place, why, "import each task separately, with `--define SLURM_ARRAY_TASK_ID=NUMBER`")
    return made


def _array(draft: JobDraft, layout: Layout, text: str) -> None:
    """The tasks of an array. Those that run one by one, and do not read their number, repeat a run that continues."""
    if not layout.indices or (len(layout.indices) == 1 and not layout.array):
        return
    reads = re.search(r"JOB_COMPLETION_INDEX|params\.task|TASK_COUNT", f"{text}{draft.fields.get('env', {})}")
    if not reads and draft.fields.get("array") in (None, {"parallel": 1}):
        hint = "start the run again with `gen rerun --resume`, if it has not ended within its time"
        draft.drop(draft.place, "`--array`", "its tasks run the same program with the same values", hint)
        if draft.fields.pop("array", None):
            draft.fields.pop("workers", None)
    elif not layout.array:
        draft.set({"matrix": {"task": list(layout.indices)}}, "sweep", place=draft.place)


def _requeue(draft: JobDraft, last: Mapping[str, Option]) -> None:
    """Start the job again if a node is lost. Only pods that lose another one of their job need `retries` for it."""
    several = draft.fields["kind"] == "batch" and "workers" in draft.fields and "array" not in draft.fields
    if "requeue" in last and "no-requeue" not in last and several:
        place = last["requeue"].place
        draft.set(1, "retries", place=place)
        why = "pods that lose another one fail, so `retries` counts errors of the program, too"
        hint = "remove `retries`, if an error must end the job"
        draft.drop(place, "`--requeue` only for lost nodes", why, hint)


_STARTS_RAY: Final = regex(r"\bsrun\s[^;&|]*\bray\s+start\b")


def _makes_cluster(run: Run) -> bool:
    """Whether a program of `srun` is `ray start`, also in a construct of the shell."""
    return (run.by_srun and starts_ray(run.words)) or _STARTS_RAY.search(run.text) is not None


def _order(draft: JobDraft, runs: Sequence[Run], layout: Layout, nodes: int, script: BatchScript) -> None:
    """Report what happens on some of the nodes of the script, or once in it, and in each pod of the job."""
    started = [one for one in runs if one.by_srun]
    if started and layout.nodes < nodes:
        what = lost_nodes(layout.nodes, nodes)
        why, hint = "no `srun` starts a program on all nodes", _ON_ALL
        if sum(one.background for one in started) > 1:
            why, hint = "one pod has all programs that run at the same time", _IN_ARRAY
        draft.drop(started[-1].place, what, why, hint)
    if nodes > 1 and (ray := next((one for one in runs if _makes_cluster(one)), None)) is not None:
        message = "`ray start` on several nodes makes a cluster, and a job of this kind has pods of their own"
        hint = "write a job of kind `ray`: its `command` is the program for the cluster"
        draft.cannot_run(ray.place, message, hint)
    if layout.nodes == 1 or draft.fields["kind"] == "mpi":
        return
    if not any(one.by_srun for one in runs):
        if any(INNER_SRUN.search(one.text) for one in runs):
            return  # which cannot run
        draft.fields.pop("workers", None)
        hint = "start it with `srun`, or set `workers` if it starts processes on the other nodes itself"
        what = lost_nodes(1, layout.nodes)
        draft.drop(runs[-1].place, what, "the script starts its programs on the first one only", hint)
        return
    for one in dict.fromkeys(one for one in script.left if one.of_pods):
        draft.drop(one.place, one.what, one.why, one.hint)
    _single_starts(draft, runs, layout, script)


def _single_starts(draft: JobDraft, runs: Sequence[Run], layout: Layout, script: BatchScript) -> None:
    """Report the programs that start once in the script."""
    for one in runs:
        once = not one.by_srun or min(one.nodes, one.tasks) < layout.nodes
        if once and not one.text and one.words[:1] not in (*BETWEEN, ("cd",)):
            program = source_text(one.words[0]).rpartition("/")[2]
            hint = "remove it from `command`, and do it before the job, if it may happen only once"
            if one.by_srun and one.launcher is not None:
                hint = "start a task on each node in the script, or set `workers` to the nodes of the program"
            draft.drop(one.place, f"the single start of `{program[:40]}`", "each pod runs the whole command", hint)
        parts = [part.strip('"') for part in steps.parts_of(one)]
        for part in (known for known in script.outputs if known in one.text or known in parts):
            what, hint = f"the single start of `{cut(part)}`", "check that all pods compute the same value"
            if re.search(r"\bmktemp\b", part):  # which differs in each pod
                hint = "use a folder of a volume instead, if the pods share its files"
            draft.drop(one.place, what, "each pod computes it", hint)
