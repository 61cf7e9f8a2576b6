"""Requests for nodes, tasks, GPUs, and variables of tasks; and remedies for what only the nodes of `srun` have."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from gen.base import Findings, Location, names, regex
from gen.base.codes.imports import NOT_CARRIED
from gen.base.findings import counted
from gen.base.shell_script import nodes_below, syntax_tree
from gen.importers.draft import JobDraft
from gen.importers.slurm.allocation import layout_of
from gen.importers.slurm.expansion import ADDRESS, CLOSE, NODES, OPEN, is_known, marked, shown, source_text, sources
from gen.importers.slurm.lines import command_at
from gen.importers.slurm.options import HANDLED, REASONS, Option, options_of
from gen.importers.slurm.programs import DroppedPart, Step
from gen.importers.slurm.script import BatchScript
from gen.importers.slurm.site import OF_NODES, Layout, Site, is_of_machines

if TYPE_CHECKING:
    from tree_sitter import Node

_SIZES: Final = names("SLURM_NNODES SLURM_JOB_NUM_NODES SLURM_NTASKS SLURM_NPROCS SLURM_NTASKS_PER_NODE")

_OF_GPUS: Final = regex(r"gpu|cuda|nccl|nvidia|rocm|hip_", re.IGNORECASE)
_OF_PEOPLE: Final = names("chdir error job-name mail-user output")
"""Options with names that people choose."""
_IMAGE: Final = regex(r"(?<!\S)\S+\.(?:sif|simg|sqsh)\b")
_COMMENT: Final = regex(r"(?m)(?:^|\s)#.*$")


def exported_by(options: Iterable[Option]) -> dict[str, str]:
    """The variables that `--export` sets."""
    pairs = (part.partition("=") for one in options if one.name == "export" for part in one.value.split(","))
    return {name: text for name, equals, text in pairs if equals and name}


def on_each_node(steps: Iterable[Step], nodes: int) -> list[Step]:
    """The steps, with one `srun` on all nodes instead of one for each node, as a loop over the nodes starts them."""
    left = [*steps]
    made: list[Step] = []
    while left:
        group = left[:nodes]
        at_once = len(group) == nodes > 1 and all(one.by_srun for one in group)
        at_once = at_once and all(one.background for one in group[:-1])
        merged = _on_all_nodes(group) if at_once else None
        made.append(left[0] if merged is None else merged)
        del left[: 1 if merged is None else nodes]
    return made


def _on_all_nodes(group: Sequence[Step]) -> Step | None:
    """One step instead of one for each node, in any order; None if they differ in more than the node and its number."""
    read = [options_of([*one.options], one.place, Findings()) for one in group]
    if not all(any(one.name == "nodelist" for one in options) for options, _ in read):
        return None
    rows = [_values_of(step, rest) for step, (_, rest) in zip(group, read, strict=True)]
    if any(row.keys() != rows[0].keys() for row in rows):
        return None
    made, orders = dict[tuple[str, str], str](), set[tuple[str, ...]]()
    for key in rows[0]:
        value, order = _by_rank([row[key] for row in rows])
        if value is None:
            return None
        made[key] = value
        orders |= {order} if order else set()
    if len(orders) > 1:
        return None

    def of_kind(kind: str) -> dict[str, str]:
        return {name: value for (its, name), value in made.items() if its == kind}

    last, of_step = group[-1], of_kind("")
    kept = [one for one in read[0][0] if one.name not in ("nodelist", "nodes", "ntasks", "ntasks-per-node")]
    options = [f"--{one.name}={one.value}" if one.value else f"--{one.name}" for one in kept]
    sizes = (f"--nodes={len(group)}", f"--ntasks={len(group)}")
    return replace(
        last,
        options=(*sizes, *options, *of_kind("word").values()),
        place=group[0].place,
        assigned=tuple(of_kind("assigned").items()),
        exported={**last.exported, **of_kind("exported")},
        folder=of_step["folder"],
        input=of_step["input"],
        output=(of_step["sign"], of_step["path"]),
    )


def _values_of(step: Step, words: Sequence[str]) -> dict[tuple[str, str], str]:
    """The words of the program of a step, and other values of it that can depend on its node."""
    sign, path = step.output
    return {
        **{("word", str(number)): word for number, word in enumerate(words)},
        **{("assigned", name): value for name, value in step.assigned},
        **{("exported", name): value for name, value in step.exported.items() if isinstance(value, str)},
        ("", "folder"): step.folder,
        ("", "input"): step.input,
        ("", "sign"): sign,
        ("", "path"): path,
    }


def _by_rank(column: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """A word that is the same on all nodes, or has the number of the node, and the numbers; None for others."""
    if len({*column}) == 1:
        return column[0], ()
    first = min(column, key=lambda one: (len(one), one))
    for before, after in ((first[: one.start()], first[one.end() :]) for one in re.finditer("0", first)):
        numbers = tuple(one.removeprefix(before).removesuffix(after) for one in column)
        is_outside = before.count(OPEN) == before.count(CLOSE)
        if is_outside and {*column} == {f"{before}{number}{after}" for number in range(len(column))}:
            return f"{before}{marked('$RANK')}{after}", numbers
    return None, ()


def with_export(step: Step, options: Sequence[Option]) -> Step:
    """A program of `srun` with the variables of `--export`; without `ALL`, it has no others of the script."""
    parts = [part for one in options if one.name == "export" for part in one.value.split(",")]
    own = tuple((name, value) for name, sign, value in (one.partition("=") for one in parts) if sign)
    left = {name: value for name, value in step.exported.items() if name in parts or name.startswith("SLURM_")}
    exported = step.exported if "ALL" in parts or not parts else left
    known = {name: value for name, value in own if is_known(value) and not is_of_machines(name)}
    own = tuple(one for one in own if one[0] not in known)
    return replace(step, assigned=(*step.assigned, *own), exported={**exported, **known})


def set_at(script: BatchScript, name: str, place: Location) -> Location:
    """The place where a script sets a variable, which can be in a text that the program of a place starts."""
    lines = script.source.split("\n")
    sets = regex(rf"^(?!\s*#).*(?<![\w$]){name}=")
    at = place.line - script.first_line
    if name in "".join(lines[at : at + 1]):
        return place
    found = next((number for number, one in enumerate(lines) if sets.search(one)), at)
    return replace(place, line=script.first_line + found)


def word_of_folder(script: BatchScript, place: Location) -> str:
    """What sets the folder of a program in the command at a place."""
    text = command_at(script.source, place.line - script.first_line + 1)
    return next((one for one in ("--container-workdir", "--chdir", "pushd") if one in text), "cd")


def lost_nodes(used: int, nodes: int) -> str:
    """The nodes that a job does without."""
    return f"{'the use of ' if nodes - used > 1 else ''}{nodes - used} of {nodes} nodes"


WITHOUT_HOSTS: Final = "use `$MASTER_ADDR`, or a launcher that gen gives the hosts, such as `mpirun`"
"""The remedy for a list of nodes."""


def why_of_part(text: str) -> tuple[str, str]:
    """The reason and the remedy for a variable with a part of the command, which the job lacks."""
    if " " not in text and any("$MASTER_ADDR" in one for one in sources(text)):
        return "a pod has the address of the first one in `$MASTER_ADDR`", READ
    return "the command has its value", "add it to `env` if the program reads it"


READ: Final = "read that in the program, if it needs it"


def why_of_machines(script: BatchScript, name: str) -> tuple[str, str]:
    """The reason and the remedy for a variable with a value that is known only on the machines."""
    why = "its value is known only on the machines"
    if script.lists_nodes(name):
        return why, WITHOUT_HOSTS
    return why, "set it in `env`, or give the values in it with `--define NAME=VALUE`"


_LISTS_NODES: Final = regex(r"\bscontrol\s+show\s+hostnames?\b|\bSLURM_(?:JOB_)?NODELIST\b|\bhostname\b")


def remedy_of_file(script: BatchScript, place: Location, otherwise: str) -> str:
    """The remedy for a file that no pod has: the names of nodes are not known before a run."""
    lines = script.source.split("\n")[place.line - script.first_line :]
    if _LISTS_NODES.search("".join(lines[:1])) is None:
        return otherwise
    return "remove the part that reads it: hosts are known only in a run, and `mpirun` and the launchers have them"


def changed_sizes(step: Step, constants: Mapping[str, str]) -> Iterator[DroppedPart]:
    """Variables from which `srun` reads its numbers of tasks, with other values than the script has from Slurm."""
    for name in sorted(_SIZES & step.exported.keys()):
        if step.exported[name] != constants.get(name):
            hint = "set the number with an option of `#SBATCH` or `srun`"
            yield DroppedPart(step.place, f"the change of `{name}`", "a job has the number of its script", hint)


def copies_of_images(script: BatchScript, steps: Sequence[Step], images: Collection[str]) -> set[int]:
    """The numbers of the programs for `sbcast` of an image that only containers use, or that remove it: a pod has its
    image. Names each `sbcast`.
    """
    copies = {at: one for at, one in enumerate(steps) if one.words[:1] == ("cp",) and one.place in script.broadcasts}
    removals = {at: {*one.words[1:]} - {"-f"} for at, one in enumerate(steps) if one.words[:1] == ("rm",)}
    targets = {one.words[-1] for one in copies.values()} & {*images}
    targets -= {word for at, one in enumerate(steps) if at not in copies.keys() | removals for word in one.words}
    copies = {at: one for at, one in copies.items() if one.words[-1] in targets}
    of_images = {one.place for one in copies.values()}
    for place, text in script.broadcasts.items():
        copied = "each pod copies the file itself", "remove it, if a volume has it"
        reason = OF_NODES["sbcast"] if place in of_images else copied
        script.left.append(DroppedPart(place, f"`{text}`", *reason))
    return copies.keys() | {at for at, words in removals.items() if words <= targets}


def starts_ray(words: Sequence[str]) -> bool:
    """Whether a program is `ray start`, with any path and behind any other program, such as `uv run`."""
    return any(one.rpartition("/")[2] == "ray" and two == "start" for one, two in pairwise(map(source_text, words)))


def uses_gpus(options: Iterable[Option], text: str) -> bool:
    """Whether the options or the commands of a script name GPUs."""
    asked = (f"{one.name}={one.value}" for one in options if one.name not in _OF_PEOPLE)
    return any(map(_OF_GPUS.search, (*asked, _IMAGE.sub("", _COMMENT.sub("", text)))))


def carry_exclusive(draft: JobDraft, options: Sequence[Option], of_step: Sequence[Option], site: Site) -> None:
    """Set the sizes of a node for a script with all its GPUs and `--exclusive`. Reports this, unless a pod has all of
    its node.
    """
    option = next((one for one in (*options, *of_step) if one.name == "exclusive"), None)
    if option is None:
        return
    has_gpus = "gpus" in draft.fields and str(draft.fields["gpus"]) == site.nodes.get("gpus")
    for name in ("cpu", "memory"):
        if has_gpus and option in options and name in site.nodes:
            draft.fields.setdefault(name, site.nodes[name])
    why, hint = REASONS["exclusive"] if option in options else REASONS["overlap"]
    if option not in options:
        draft.drop(option.place, "`--exclusive` of `srun`", why, hint)
        return
    if has_gpus:
        why, hint = "pods without GPUs can share its node", "set `memory` to that of a node"
    if "memory" not in draft.fields or str(draft.fields["memory"]) != site.nodes.get("memory"):
        draft.drop(option.place, "`--exclusive`", why, hint)


_OF_STEP: Final = HANDLED | names("constraint container-name exclude exclusive jobid nodelist overlap")
"""Options that each program has for itself, or that only choose its place in the allocation."""


def lost_options(others: Iterable[Sequence[Option]], own: Iterable[Option]) -> Iterator[DroppedPart]:
    """Options of each other `srun` than that of the training, which the job does without."""
    named = {one.name for one in own}
    for one in (one for options in others for one in options):
        if one.name in named or (one.name in _OF_STEP and one.name not in ("time", "constraint")):
            continue
        named.add(one.name)
        why, hint = REASONS.get(one.name, ("gen does not know this option", "check whether the job needs it"))
        if one.name in ("time", "constraint"):
            why, hint = "it is that of one program", "write it as `#SBATCH`, if the job needs it"
        yield DroppedPart(one.place, f"`--{one.name}`", why, hint)


def without_only_node(options: Sequence[Option], nodes: int) -> list[Option]:
    """The options of an `srun` without the name of the only node, as far as a value of the script has it."""
    return [one for one in options if one.name != "nodelist" or nodes > 1 or one.value not in (ADDRESS, NODES)]


def gpus_of_step(step: Step) -> int:
    """The GPUs that a program gets of those of the node; 0 if its `srun` has no option for them."""
    known, _ = options_of([*step.options], step.place, Findings())
    given = [one for one in known if one.name in ("gpus", "gpus-per-node", "gpus-per-task", "gres")]
    words = given[-1].value.partition("(")[0].split(":") if given else ["0"]
    if given and given[-1].name == "gres" and words[0] != "gpu":
        return 0
    return int(words[-1][:6]) if words[-1].isdecimal() else 1


_GPUS: Final = 8
_CPUS: Final = 128
"""Those of a node, if no site file has them."""


def with_nodes(
    options: list[Option], values: Mapping[str, str], node: Mapping[str, str], found: Findings
) -> list[Option]:
    """The options with the number of nodes that Slurm chooses, if they have none. `node` is that of a site file."""
    last = {one.name: one for one in options}
    layout, tasks = layout_of(options), last.get("ntasks", last.get("gpus", last.get("gpus-per-task")))
    if "nodes" in last or layout.nodes > 1 or not options:
        return options
    place = tasks.place if tasks is not None else options[0].place
    given = values.get("SLURM_NNODES", values.get("SLURM_JOB_NUM_NODES", ""))
    if given.isdecimal():
        return [*options, Option("nodes", given, place)]
    of_node = layout_of([one for one in options if one.name in ("gres", "gpus-per-node")]).gpus
    total = layout.gpus if {"gpus", "gpus-per-task"} & last.keys() else 0
    nodes, is_known = max(-(-total // (of_node or int(node.get("gpus") or _GPUS))), 1), of_node > 0 or total <= _GPUS
    if layout.per_node > max(of_node, total, 1):  # they share GPUs, or have none
        cpus, needed = node.get("cpu", ""), layout.per_node * layout.cpus_per_task
        nodes = max(nodes, -(-needed // (int(cpus) if cpus.isdecimal() and int(cpus) else _CPUS)))
        is_known = nodes == 1 and (of_node == 0 or cpus.isdecimal())
    if not is_known:
        what = f"the number of nodes for {counted(layout.per_node, 'task')}"
        hint = "set `--nodes`, or give it with `--define SLURM_NNODES=NUMBER`"
        found.warning(NOT_CARRIED, place, f"{what} is not carried: Slurm chooses it, and the job has {nodes}", hint)
    return [*options, Option("nodes", str(nodes), place)] if nodes > 1 else options


def tasks_of(options: Sequence[Option], layout: Layout) -> tuple[int, int, int]:
    """The nodes of an `srun`, its tasks on each and on all; those of the script without options of its own."""
    given = {one.name: int(one.value[:6]) for one in options if one.value.isascii() and one.value.isdecimal()}
    nodes, tasks = given.get("nodes") or layout.nodes, given.get("ntasks", 0)
    per_node = given.get("ntasks-per-node") or given.get("tasks-per-node") or -(-tasks // nodes)
    if tasks:
        nodes = min(nodes, -(-tasks // per_node))
        return nodes, -(-tasks // nodes), tasks
    per_node = per_node or layout.per_node
    return nodes, per_node, layout.tasks if (nodes, per_node) == (layout.nodes, layout.per_node) else nodes * per_node


def computed_numbers(options: Sequence[Option], of_lines: Collection[str]) -> Iterator[DroppedPart]:
    """The numbers of nodes and tasks that only a shell computes, also in variables that lines of the command set."""
    for one in options:
        parts = [part.strip('"') for part in sources(one.value)] if one.name in _OF_TASKS else []
        if any(part[1:] in of_lines or ("$(" in part and "$((" not in part) for part in parts):
            what, why = f"the value `{shown(one.value)[:60]}` of `--{one.name}`", "only a shell computes it"
            yield DroppedPart(one.place, what, f"{why}, and the job has its own", "write the number into the script")


_OF_ONE_TASK: Final = names(
    "accel-bind cpu-bind cpus-per-task exact exclusive gpu-bind gpus gpus-per-node gpus-per-task gres hint job-name "
    "kill-on-bad-exit label mem mem-bind mpi nodes ntasks ntasks-per-node oversubscribe overlap quiet threads-per-core "
    "unbuffered verbose wait"
)
"""Options that change nothing for the only task of a job, if it is the only one of `srun`, too."""
_OF_TASKS: Final = ("nodes", "ntasks", "ntasks-per-node")
_OF_SHARE: Final = names("exact exclusive gpus gpus-per-node gpus-per-task gres mem")
"""Options that let a program in the background wait until others end."""


def without_srun(text: str) -> str:
    """A construct of the shell in a job of one task, whose programs start without `srun` if its options allow it."""
    source = text.encode("utf-8", "replace")
    for node in reversed([*nodes_below(syntax_tree(source), "command")] if "srun" in text else []):
        words, name = node.children_by_field_name("argument"), node.child_by_field_name("name")
        if name is None or _text(name) != "srun":
            continue
        options, rest = options_of([*map(_text, words)], Location(""), Findings())
        is_plain = all(one.name in _OF_ONE_TASK and (one.name not in _OF_TASKS or one.value == "1") for one in options)
        waits = node.next_sibling is not None and node.next_sibling.type == "&"  # for free GPUs
        if rest and is_plain and not (waits and any(one.name in _OF_SHARE for one in options)):
            source = source[: name.start_byte] + source[words[-len(rest)].start_byte :]
    return source.decode("utf-8", "replace")


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
