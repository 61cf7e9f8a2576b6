"""Options of `sbatch` as fields of a job: sizes, times, queues and places of its pods."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from gen.base import Findings, Location, names, regex
from gen.base.codes.imports import INVALID_COMMAND_LINE
from gen.importers import Fields
from gen.importers.draft import JobDraft, label
from gen.importers.slurm.conditions import OF_FILES
from gen.importers.slurm.expansion import OPEN
from gen.importers.slurm.options import DEFINED, HANDLED, PLACEHOLDER, REASONS, Option
from gen.importers.slurm.programs import BETWEEN, DroppedPart, Step
from gen.importers.slurm.script import BatchScript
from gen.importers.slurm.site import Layout, Site, is_silent, names_of
from gen.job.names import LABEL_VALUE
from gen.job.pods import MAX_PODS
from gen.job.search import MAX_RUNS
from gen.kubernetes import quantity

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


def seconds_of(value: str) -> int | None:
    """The seconds of a time limit; None if it has none."""
    match = _TIME.fullmatch(value)
    return _seconds(match) if match is not None and value != "0" else None


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
    if option is None or value in known or ("$" not in value and not PLACEHOLDER.search(value)):
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


_OF_MEMORY: Final = names("mem mem-per-cpu mem-per-gpu")
_LIMITS: Final = _OF_MEMORY | names("time cpus-per-task")
_OF_ONE: Final = "it is that of one program"
_OF_SCRIPT: Final = "the job has that of its script"
_HINTS: Final = {
    _OF_ONE: "write it as `#SBATCH`, if the job needs it",
    _OF_SCRIPT: "remove it, or import the program as a job of its own",
}
_TIMEOUT: Final = "write `timeout` in front of the program in `command`, if it needs the limit"


def in_limits(script: BatchScript, of_script: Sequence[Option], of_step: list[Option]) -> list[Option]:
    """The options of the training, without limits that would be those of all programs. Reports each."""
    given = {one.name: one.value for one in of_script}
    alone = sum(map(_is_program, script.steps)) <= 1
    lost = {one.name: why for one in of_step if (why := _why_lost(one, given, of_step, alone=alone))}
    script.left += _reported(of_step, lost, given)
    return [one for one in of_step if one.name not in lost]


def _is_program(step: Step) -> bool:
    """Whether a step takes time and memory."""
    first = step.words[:1]
    other = first in (*BETWEEN, ("cd",)) or bool({*first} & OF_FILES) or (first != () and is_silent(first[0]))
    return step.by_srun or not (step.sets or other)


def _why_lost(option: Option, given: dict[str, str], of_step: Sequence[Option], *, alone: bool) -> str:
    """Why the job does not have a limit of its training, if so."""
    if option.name not in _LIMITS:
        return ""
    one, kept = _OF_ONE, _OF_SCRIPT
    if option.name in _OF_MEMORY:
        return kept if _OF_MEMORY & given.keys() else "" if alone else one
    if option.name == "time":
        of_job, of_program = seconds_of(given.get("time", "")), seconds_of(option.value)
        is_longer = of_job is not None and of_program is not None and of_program > of_job
        return (kept if is_longer else "") if alone else kept if of_job is not None else one
    number, of_task = given.get(option.name, ""), option.value
    shrinks = number.isdecimal() and of_task.isdecimal() and int(of_task[:6]) < int(number[:6])
    sizes = any(other.name in ("ntasks", "nodes", "ntasks-per-node") for other in of_step)
    return kept if shrinks and not alone and not sizes else ""


def _reported(of_step: Sequence[Option], lost: dict[str, str], given: dict[str, str]) -> Iterator[DroppedPart]:
    for one in of_step:
        value = given.get(one.name, "")
        is_same = one.value == value or (one.name == "time" and seconds_of(one.value) == seconds_of(value))
        if one.name in lost and not is_same:
            hint = _TIMEOUT if one.name == "time" else _HINTS[lost[one.name]]
            yield DroppedPart(one.place, f"`--{one.name}` of `srun`", lost[one.name], hint)
