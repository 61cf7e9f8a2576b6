"""Options of `sbatch`: the `#SBATCH` lines of a script, and each option as fields of a job or as a finding."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from gen.base import Findings, Location, names, regex
from gen.base.codes.imports import INVALID_COMMAND_LINE, NOT_CARRIED
from gen.importers import Fields
from gen.importers.draft import JobDraft, label
from gen.importers.slurm.expansion import OPEN
from gen.importers.slurm.site import TEMPLATE, TO_COMPLETE, Layout, Site, names_of
from gen.job.names import LABEL_VALUE
from gen.job.pods import MAX_PODS
from gen.job.search import MAX_RUNS
from gen.kubernetes import quantity

SHORT: Final = {
    "A": "account", "a": "array", "B": "extra-node-info", "b": "begin", "C": "constraint", "c": "cpus-per-task",
    "D": "chdir", "d": "dependency", "E": "preserve-env", "e": "error", "F": "nodefile", "G": "gpus", "H": "hold",
    "I": "immediate", "i": "input", "J": "job-name", "K": "kill-on-bad-exit", "k": "no-kill", "L": "licenses",
    "l": "label", "M": "clusters", "m": "distribution", "N": "nodes", "n": "ntasks", "O": "overcommit", "o": "output",
    "p": "partition", "Q": "quiet", "q": "qos", "r": "relative", "S": "core-spec", "s": "oversubscribe", "T": "threads",
    "t": "time", "u": "unbuffered", "v": "verbose", "W": "wait", "w": "nodelist", "X": "disable-status", "x": "exclude",
    "V": "version", "Z": "no-allocate",
}  # fmt: skip
SWITCHES: Final = names(
    "async bcast compress consolidate-segments container-entrypoint container-entrypoint-log container-mount-home "
    "container-readonly container-remap-root container-writable contiguous debugger-test disable-status exact "
    "exclusive external external-launcher get-user-env help hold ignore-pbs immediate interactive kill-on-bad-exit "
    "label mpi-combine multi-prog nice no-allocate no-container-entrypoint no-container-mount-home "
    "no-container-remap-root no-kill no-requeue no-shell oom-kill-step overcommit overlap oversubscribe parsable "
    "preserve-env propagate pty quiet quit-on-interrupt reboot requeue resv-ports send-libs spread-job "
    "spread-segments stepmgr test-only unbuffered usage use-min-nodes verbose version wait-for-children whole x11"
)
"""Options of `srun` without a value, or with one behind `=` only, also those of Pyxis."""
OF_SBATCH: Final = SWITCHES | {"wait"}
_WITH_VALUE: Final = names(
    "acctg-freq argv batch bb bbf bcast-exclude cluster container container-id container-save context "
    "delay-boot epilog extra gid gres-flags het-group ignore-signals kill-on-invalid-dep mcs-label mem-update mincpus "
    "msg-timeout network ntasks-per-tres pack-group prefer priority profile prolog resources runtime slurmd-debug "
    "task-epilog task-prolog time-min treewidth tres-bind tres-per-task uid"
)
STARTS: Final = (
    r"^-|(^|/)(python[0-9.]*|(ba|da|z)?sh|env|exec|time|nice|timeout|numactl|nsys|torchrun|accelerate|deepspeed|mpirun"
    r"|mpiexec|horovodrun|uv|conda|ray|apptainer|singularity|shifter|enroot|docker)$|[.](py|sh)$"
)
"""A word behind an option that gen does not know, which is not its value; bash reads the pattern, too."""
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


_OPEN: Final = regex(
    rf"(?<![\"']){TEMPLATE.pattern}(?![\"'])|(?<![\"'])<[A-Za-z][^<>\"']*>|(?<!\$)\{{ ?[A-Z_a-z]\w* ?}}"
)
"""A part that people replace with a word."""
_STATEMENT: Final = regex(r"\{%[^%]*%\}")


def directives(text: str, file: str, found: Findings) -> tuple[list[Option], int]:
    """Options of the `#SBATCH` lines, and the number of lines before the first command: Slurm ignores later ones."""
    options: list[Option] = []
    first = True
    lines = text.split("\n")[:MAX_LINES]
    for number, line in enumerate(lines):
        stripped = _STATEMENT.sub("", line).strip()
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


DEFINED: Final = regex(r"\$\{(\w+)\}|\$(\w+)")


def parsed(text: str, place: Location, found: Findings) -> Iterator[Option]:
    """Options in a line, without those that only a template has."""
    mark = TO_COMPLETE.match(text)
    try:
        text = _OPEN.sub(lambda match: f"'{match[0]}'", text[mark.end() :] if mark is not None else text)
        words = shlex.split(_COMMENT.sub("", text))
    except ValueError:
        found.error(INVALID_COMMAND_LINE, place, "a quote is not closed", "close it")
        return
    if mark is not None:
        message = f"`{mark[0].strip()}` is a placeholder, and not an option"
        found.error(INVALID_COMMAND_LINE, place, message, "replace it with options, or remove it")
    options, left = options_of(words, place, found, OF_SBATCH)
    if left:
        hint = "write the name of an option with `--`"
        found.warning(NOT_CARRIED, place, f"`{left[0]}` is not carried: it is not an option", hint)
    yield from (one for one in options if not TEMPLATE.search(one.value))


def options_of(
    words: list[str], place: Location, found: Findings, switches: Collection[str] = SWITCHES
) -> tuple[list[Option], list[str]]:
    """Options at the start of a command, and its other words. `switches` are those of its tool."""
    options: list[Option] = []
    left = list(words)
    while left and left[0].startswith("-") and left[0] != "-":
        word = left.pop(0)
        if word == "--":
            break
        name, value, is_whole = name_of(word)
        is_unknown = name not in VALUED and (not left or re.search(STARTS, left[0]) is not None)
        if is_whole or name in switches or is_unknown:
            options.append(Option(name, value, place))
        elif left:
            options.append(Option(name, left.pop(0), place))
        else:
            found.error(INVALID_COMMAND_LINE, place, f"`{word}` has no value", "add it")
    return options, left


def name_of(word: str) -> tuple[str, str, bool]:
    """Name and value of an option, and whether the word has its value."""
    if word.startswith("--"):
        written, equals, value = word[2:].partition("=")
        near = [one for one in _KNOWN if one.startswith(written)]  # getopt completes them
        return near[0] if len(near) == 1 else written, value, equals != ""
    rest = word[2:].removeprefix("=")
    return SHORT.get(word[1:2], word[1:2]), rest, rest != ""


_LOGS: Final = ("the cluster keeps the logs", "read them with `gen logs`, or redirect the output in `command`")
_MAIL: Final = ("gen sends no messages", "set up notifications of Argo CD or Flux")
_NODES: Final = ("jobs do not name nodes", "set `placement.nodeSelector` of the job to labels that the overlay grants")
_BLOCKS: Final = ("an overlay places pods", "set `queue` to one of the overlay with a `topology`")
_START: Final = ("jobs start on their own", "keep `state: suspended` until the job may start")
_CPUS: Final = ("Kubernetes has no field for it", "ask the platform owner about CPU and topology policies of the nodes")
_PRIORITY: Final = (
    "a quality of service is not a PriorityClass",
    "set `priority` to a PriorityClass that the overlay grants",
)
_ENTRYPOINT: Final = ("`command` replaces the one of the image", "remove it")
_CLIENT: Final = ("it concerns the client of Slurm", "remove it")
REASONS: Final[dict[str, tuple[str, str]]] = {
    **dict.fromkeys(("output", "error", "input", "open-mode", "label", "unbuffered"), _LOGS),
    **dict.fromkeys(("mail-type", "mail-user"), _MAIL),
    **dict.fromkeys(names("nodelist exclude nodefile relative constraint cluster-constraint"), _NODES),
    **dict.fromkeys(("segment", "switches"), _BLOCKS),
    **dict.fromkeys(("dependency", "begin", "hold", "deadline"), _START),
    **dict.fromkeys(
        names(
            "cpu-bind cpu_bind mem-bind mem_bind distribution extra-node-info hint core-spec threads-per-core "
            "accel-bind sockets-per-node gpu-bind cores-per-socket cpu-freq contiguous thread-spec ntasks-per-socket "
            "ntasks-per-core ntasks-per-gpu gpus-per-socket gpu-freq overcommit"
        ),
        _CPUS,
    ),
    **dict.fromkeys(
        names(
            "exact jobid overlap quiet verbose parsable wait wrap test-only mpi kill-on-bad-exit bcast "
            "compress disable-status immediate interactive no-allocate preserve-env propagate pty quit-on-interrupt "
            "resv-ports send-libs threads version wait-for-children whole x11"
        ),
        _CLIENT,
    ),
    **dict.fromkeys(("qos", "nice"), _PRIORITY),
    "exclusive": ("a pod shares its node", "request all GPUs or the memory of a node"),
    "oversubscribe": ("a pod requests its resources", "remove it"),
    "reservation": ("a cluster has no reservations", "use a queue of the overlay"),
    "licenses": ("a cluster has no licenses", "use a queue of the overlay with a quota for them"),
    "signal": ("a pod gets SIGTERM at its end", "save checkpoints on SIGTERM"),
    "tmp": ("a pod has no scratch disk of its own", "mount a volume of the overlay with `data`"),
    "clusters": ("an overlay is one cluster", "choose the overlay with `clusters` of the job"),
    "export-file": ("gen reads no files that a script names", "write the variables as `env`"),
    "no-kill": ("an operator decides about failed nodes", "use `elastic` of `kind: pytorch`"),
    "comment": ("a job has no description", "write it as a comment into the job file"),
    "wckey": ("a job has no accounting key", "set `labels` of the job"),
    "container-name": ("a pod has one image", "set `image` of the job"),
    "container-entrypoint": ("`command` replaces the one of the image", "start it there, if the program needs it"),
    **dict.fromkeys(("container-entrypoint-log", "no-container-entrypoint"), _ENTRYPOINT),
    "container-env": ("a variable of the job precedes that of the image", "remove it"),
    "no-container-remap-root": ("a container has the user of its image", "set it there"),
    "wait-all-nodes": ("only a gang scheduler starts all pods together", "set `queue` of one, if the program needs it"),
    "no-container-mount-home": ("a container has no home of the user", "remove it"),
    "environment": ("gen does not read the file of the container", "set `image` and `data` of the job as it has them"),
    "container-writable": ("the file system of a container is writable", "remove it"),
    "container-mount-home": ("a container has no home of the user", "mount a volume of the overlay with `data`"),
}
"""Options that no field has: the reason and the remedy."""
HANDLED: Final = names(
    "account array chdir image container-image container-mounts container-workdir cpus-per-gpu cpus-per-task export "
    "gpus gpus-per-node gpus-per-task gres job-name mem mem-per-cpu mem-per-gpu no-requeue nodes ntasks "
    "ntasks-per-node partition requeue tasks-per-node time"
)
"""Options that fields have."""
VALUED: Final = (HANDLED | REASONS.keys() | _WITH_VALUE) - SWITCHES
"""Options that take the next word for their value, if they have none behind `=`."""
_KNOWN: Final = sorted(VALUED | SWITCHES)
_OF_ALLOCATION: Final = names("account partition qos")  # options that `srun` ignores in a script
_TIME: Final = regex(r"(?:(?P<days>\d{1,4})-)?(?P<parts>\d{1,6}(?::\d{1,2}){0,2})")
_MEMORY: Final = regex(r"(?P<number>\d{1,12})(?P<unit>[KMGT]?)B?", re.IGNORECASE)
_RANGE: Final = regex(r"(?P<first>\d{1,9})(?:-(?P<last>\d{1,9})(?::(?P<step>\d{1,9}))?)?")
_UNITS: Final = {"K": "Ki", "": "Mi", "M": "Mi", "G": "Gi", "T": "Ti"}


def layout_of(options: Sequence[Option], *, as_sweep: bool = False) -> Layout:
    """The sizes alone."""
    return allocation(options, as_sweep=as_sweep)[0]


def allocation(options: Sequence[Option], *, as_sweep: bool = False) -> tuple[Layout, Fields]:
    """The sizes alone, and the fields of a job with them."""
    draft = JobDraft("job", "batch", "team", Location(""), Findings())
    return _sizes(draft, {one.name: one for one in options}, Site(), as_sweep=as_sweep), draft.fields


def carry(draft: JobDraft, options: list[Option], of_step: list[Option], site: Site, *, as_sweep: bool) -> Layout:
    """Set the fields; `of_step` are the options of `srun`, which override those of the script."""
    given, own = {one.name: one.value for one in options}, {one.name for one in of_step}
    for one in (one for one in of_step if one.name in _OF_ALLOCATION and one.value != given.get(one.name)):
        if OPEN not in one.value:  # which has a finding
            why, hint = "a step is in the allocation of the script", "write it as `#SBATCH`, or remove it"
            draft.drop(one.place, f"`--{one.name}` of `srun`", why, hint)
    last = {one.name: one for one in (*options, *(one for one in of_step if one.name not in _OF_ALLOCATION))}
    if {"ntasks-per-node", "tasks-per-node"} & own and "ntasks" not in own:  # which replace those on all nodes
        last.pop("ntasks", None)
    for one in last.values():
        if one.name not in HANDLED and one.name not in ("constraint", "exclusive"):
            unknown = (
                f"gen does not know this option{f', and takes `{one.value[:40]}` for its value' * bool(one.value)}"
            )
            why, hint = REASONS.get(one.name, (unknown, "check whether the job needs it"))
            draft.drop(one.place, f"`--{one.name}`", why, hint)
    layout = _sizes(draft, last, site, as_sweep=as_sweep)
    _life(draft, last)
    _place(draft, last, site)
    return layout


def _sizes(draft: JobDraft, last: dict[str, Option], site: Site, *, as_sweep: bool) -> Layout:
    nodes = _number(draft, last.get("nodes")) or 1
    per_node = _number(draft, last.get("ntasks-per-node") or last.get("tasks-per-node"))
    tasks = _number(draft, last.get("ntasks")) or _tasks_of_gpus(last)
    if "nodes" not in last and tasks and per_node:
        nodes = -(-tasks // per_node)
    per_node = max(-(-tasks // nodes), 1) if tasks else per_node or 1
    given, of_gpus = (_number(draft, last.get(one)) for one in ("cpus-per-task", "cpus-per-gpu"))
    cpus = given or 1
    gpus = _gpus(draft, last, nodes, per_node)
    if nodes > 1:
        draft.set(nodes, "workers", place=draft.place)
    if gpus:
        draft.set(gpus, "gpus", place=draft.place)
    if given or (of_gpus and gpus):
        draft.set(cpus * per_node if given else (of_gpus or 1) * gpus, "cpu", place=draft.place)
    _memory(draft, last, cpus * per_node, gpus, site)
    indices = _array(draft, last.get("array"), in_pods=nodes == 1 and not as_sweep)
    array = "array" in draft.fields
    whole = "exclusive" in last or (tasks or 0) % nodes
    return Layout(
        nodes=nodes,
        per_node=per_node,
        tasks=tasks or nodes * per_node,
        cpus_per_task=cpus,
        cpus=0 if whole else draft.fields.get("cpu", 0),
        gpus=gpus,
        indices=indices,
        last=indices[0] + draft.fields["workers"] - 1 if array else max(indices, default=0),
        array=array,
        names=names_of({name: one.value for name, one in last.items()}),
    )


def _tasks_of_gpus(last: Mapping[str, Option]) -> int | None:
    """The tasks of `--gpus` and `--gpus-per-task`."""
    every, each = ((last[one].value.split(":")[-1][:6] if one in last else "") for one in ("gpus", "gpus-per-task"))
    return int(every) // int(each) or None if every.isdecimal() and each.isdecimal() and int(each) else None


def _number(draft: JobDraft, option: Option | None) -> int | None:
    """A number, or the first of a range of nodes."""
    if option is None or OPEN in option.value:  # which has a finding
        return None
    first, dash, _ = option.value.partition("-")
    if not first.isascii() or not first.isdecimal() or len(first) > 6:  # noqa: PLR2004 - not a count
        message = f"`--{option.name}`: expected a number, got `{option.value[:40]}`"
        draft.found.error(INVALID_COMMAND_LINE, option.place, message, "write a number")
        return None
    if dash:
        why = f"a job has a fixed number of workers, here {first}"
        draft.drop(option.place, f"the range of `--{option.name}`", why, "use `elastic` of `kind: pytorch`")
    return int(first)


def _gpus(draft: JobDraft, last: dict[str, Option], nodes: int, per_node: int) -> int:
    """GPUs of each node; their type is reported."""
    total = 0
    for name, divisor, factor in (
        ("gres", 1, 1),
        ("gpus-per-node", 1, 1),
        ("gpus", nodes, 1),
        ("gpus-per-task", 1, per_node),
    ):
        option = last.get(name)
        for part in option.value.split(",") if option is not None else ():
            words = part.split("(")[0].split(":")
            if name == "gres" and words[0] not in ("gpu", "gpu "):
                hint = "request it with an accelerator of the overlay, or remove it"
                draft.drop(last[name].place, f"`{part}`", "it is not a GPU", hint)
                continue
            words = words[1:] if name == "gres" else words
            count = words.pop() if words and words[-1].isdecimal() else "1"
            if words:
                hint = "set `accelerator`, or `placement.gpuModel` to the label of the nodes"
                draft.drop(
                    last[name].place, f"the type `{words[0]}` of the GPUs", "nodes have labels of their own", hint
                )
            total = max(total, -(-int(count[:6]) // divisor) * factor)
    return total


def _memory(draft: JobDraft, last: dict[str, Option], cpus: int, gpus: int, site: Site) -> None:
    for name, factor in (("mem", 1), ("mem-per-cpu", cpus), ("mem-per-gpu", gpus)):
        if (option := last.get(name)) is None or not factor:
            continue
        match = _MEMORY.fullmatch(option.value)
        if match is None:
            message = f"`--{name}`: expected a size, got `{option.value[:40]}`"
            draft.found.error(INVALID_COMMAND_LINE, option.place, message, "use a form like `64G`")
        elif (number := int(match["number"])) or "memory" in site.nodes:
            size = f"{number * factor}{_UNITS[match['unit'].upper()]}" if number else site.nodes["memory"]
            draft.set(size, "memory", place=option.place)
        else:
            hint = "set `memory` to that of a node"
            draft.drop(option.place, f"`--{name}=0`", "a pod cannot request all memory of its node", hint)


def _array(draft: JobDraft, option: Option | None, *, in_pods: bool) -> tuple[int, ...]:
    """Indices of the tasks. Tasks `in_pods` of one job are an array; others, and those with gaps, a sweep."""
    if option is None:
        return ()
    text, percent, limit = option.value.partition("%")
    ranges = [_RANGE.fullmatch(part.strip()) for part in text.split(",")]
    indices = [one for match in ranges if match is not None for one in _indices(match)[: MAX_PODS + 1]]
    if not all(ranges) or not indices:  # `5-1` has none
        message = f"`--array`: expected numbers, got `{option.value[:40]}`"
        draft.found.error(INVALID_COMMAND_LINE, option.place, message, "use a form like `0-9` or `1,3,5`")
        return ()
    first, *others = dict.fromkeys(indices)
    if in_pods and others and [*dict.fromkeys(indices)] == list(range(first, first + len(others) + 1)):
        parallel = int(limit) if limit.isdecimal() and len(limit) < len(str(MAX_PODS)) else 0
        limited = 0 < parallel <= len(others)
        draft.set({"parallel": parallel} if limited else True, "array", place=option.place)
        draft.set(len(others) + 1, "workers", place=option.place)
        return (first,)
    if percent:
        draft.drop(option.place, "the limit of the array", "all runs may start", "use a queue with a quota")
    if len(others) >= MAX_RUNS:
        hint = "split the array, or number the tasks without gaps"
        message = f"the array has more than {MAX_RUNS} tasks, the most runs of a sweep"
        draft.found.error(INVALID_COMMAND_LINE, option.place, message, hint)
    return (first, *others)


def _indices(match: re.Match[str]) -> range:
    first = int(match["first"])
    return range(first, int(match["last"] or first) + 1, int(match["step"] or 1) or 1)


def _life(draft: JobDraft, last: dict[str, Option]) -> None:
    option = last.get("time")
    if option is not None and option.value.upper() not in ("INFINITE", "UNLIMITED", "0"):
        match = _TIME.fullmatch(option.value)
        if match is not None:
            draft.set(quantity.duration(_seconds(match)), "timeout", place=option.place)
        elif not _is_open(draft, option, "time limit", "timeout", ()):
            message = f"`--time`: expected a time, got `{option.value[:40]}`"
            draft.found.error(INVALID_COMMAND_LINE, option.place, message, "use a form like `1-12:00:00`")


def _seconds(match: re.Match[str]) -> int:
    """Seconds of `minutes`, `minutes:seconds`, `hours:minutes:seconds`, or with days `hours[:minutes[:seconds]]`."""
    parts = [int(part) for part in match["parts"].split(":")]
    if match["days"] is None and not parts[2:]:  # without hours
        parts = [0, *parts]
    hours, minutes, seconds = [*parts, 0, 0][:3]
    return ((int(match["days"] or 0) * 24 + hours) * 60 + minutes) * 60 + seconds


def _place(draft: JobDraft, last: dict[str, Option], site: Site) -> None:
    _queue(draft, last.get("partition"), site)
    account = last.get("account")
    if account is not None and not _is_open(draft, account, "account", "labels", site.accounts):
        named = site.accounts.get(account.value, account.value)
        if account.value not in site.accounts and not re.fullmatch(LABEL_VALUE, named):
            named = label(named, "default")
            why, hint = f"it is not a valid label value, and becomes `{named}`", "map it with `accounts` of a site file"
            draft.drop(account.place, f"the account `{account.value[:60]}`", why, hint)
        if named:
            draft.set(named, "labels", "account", place=account.place)
    constraint = last.get("constraint")
    if constraint is not None and constraint.value in site.constraints:
        for field, value in site.constraints[constraint.value].items():
            draft.set(value, "placement", field, place=constraint.place)
    elif constraint is not None:
        draft.drop(constraint.place, "`--constraint`", *REASONS["constraint"])


def _is_open(draft: JobDraft, option: Option | None, what: str, field: str, known: Collection[str]) -> bool:
    """Whether a name is a text that people replace, which is reported."""
    value = option.value if option is not None else ""
    if option is None or value in known or ("$" not in value and not _OPEN.search(value)):
        return False
    given = next((f"give it with `--define {one or other}=VALUE`" for one, other in DEFINED.findall(value)), "")
    hint = f"{given or 'replace it'}, or set `{field}` of the job"
    draft.drop(option.place, f"the {what} `{value[:60]}`", "it is a placeholder", hint)
    return True


def _queue(draft: JobDraft, partition: Option | None, site: Site) -> None:
    if partition is None:
        return
    first, *others = partition.value.split(",")
    if _is_open(draft, partition, "partition", "queue", site.partitions):
        return
    name = site.partitions.get(first, label(first, "default") if not site.partitions else "")
    if name:
        draft.join(name, {"kueue": {"localQueue": name}}, partition.place)
        hint = f"create a LocalQueue `{name}` of Kueue in the namespace"
        more = f", and {len(others)} more are not carried" if others else ""
        draft.drop(partition.place, "the partition", f"it becomes a queue of Kueue{more}", hint)
    elif first not in site.partitions:
        draft.drop(partition.place, f"the partition `{first}`", "the site file does not name it", "add it there")
