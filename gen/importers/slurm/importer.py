"""`gen import slurm`: batch scripts. Nothing in them is run.

The commands of the script lose their modules, environments and `srun`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import ClassVar, Final

from msgspec import Struct, field

from gen.base import Findings, Location, regex
from gen.base.codes.imports import INVALID_COMMAND_LINE
from gen.base.codes.jobs import SECRET_VALUE
from gen.importers import ImportedJob, Importer, ImportInput
from gen.importers.draft import JobDraft, is_secret, label, literal
from gen.importers.slurm.directives import Layout, Option, carry, directives, name_of, options_of

_MODULE: Final = regex(r"\s*(?:module|ml)\s+(?P<rest>.*)")
_ENVIRONMENT: Final = regex(r"\s*(?:conda|mamba|micromamba)\s+activate\b|\s*(?:source|\.)\s+\S*(?:activate|conda)")
_SOURCE: Final = regex(r"\s*(?:source|\.)\s+(?P<file>\S+)")
_SRUN: Final = regex(
    r"(?P<before>^|[;&|(]\s*|\s(?:then|do|time|exec)\s+|^\s*(?:time|exec)?\s*)srun\s+(?P<rest>.*)", re.DOTALL
)
_SCRATCH: Final = regex(
    r"\$\{?(?:SCRATCH|WORK|PSCRATCH|SLURM_TMPDIR|TMPDIR|LOCAL_SCRATCH|PROJECT|STORE)\b\}?"
    r"|/(?:scratch|lustre|gpfs|work|project)\b[^\s'\";]*"
)
_VARIABLE: Final = regex(r"\$\{?(SLURM_[A-Z_]+)")
_CONTAINER: Final = regex(r"\b(?:singularity|apptainer|docker|podman|shifter)\s+(?:exec|run)\b")
_ASSIGNMENT: Final = regex(r"(?:^|[\s;&|(])(?P<name>[A-Za-z_]\w*)=(?P<value>\"[^\"]*\"|'[^']*'|[^\s;&|()\"']+)")
_ONLY_EXPORT: Final = regex(r"\s*(?:export\s+)?[A-Za-z_]\w*=\S+\s*")
_HOSTS: Final = regex(r"scontrol\s+show\s+host(?:name)?s?\b")


class Body(Struct):
    """Commands for a container."""

    lines: list[str]
    options: list[Option] = field(default_factory=list)
    """Those of the first `srun`."""
    steps: int = 0
    """Number of `srun` commands."""
    variables: set[str] = field(default_factory=set)
    """Variables of Slurm that the commands use."""

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip("\n")


def read_body(draft: JobDraft, text: str, file: str, start: int) -> Body:
    """The commands after the directives; `start` is the number of lines before them."""
    body = Body([])
    lines = text.split("\n")[start:]
    index = 0
    while index < len(lines):
        place = Location(file, start + index + 1)
        line, index = _whole(lines, index)
        _line(draft, body, line, place)
    used = _VARIABLE.findall(body.text)
    body.variables.update(used)
    return body


def _whole(lines: list[str], index: int) -> tuple[str, int]:
    """A line with those that continue it, and the index of the next one."""
    whole = [lines[index]]
    while whole[-1].endswith("\\") and index + 1 < len(lines):
        index += 1
        whole.append(lines[index])
    return "\n".join(whole), index + 1


def _line(draft: JobDraft, body: Body, line: str, place: Location) -> None:
    hint = "install it in the image"
    if (module := _MODULE.match(line)) is not None:
        draft.drop(place, f"`module {module['rest'].strip()}`", "a container has no modules", hint)
        return
    if _ENVIRONMENT.match(line) is not None:
        draft.drop(place, f"`{line.strip()}`", "a container has an environment of its own", hint)
        return
    if (source := _SOURCE.match(line)) is not None:
        hint = "put the file into the image, or write its variables as `env`"
        draft.drop(place, f"the file `{source['file']}`", "gen reads no files that a script names", hint)
    if (scratch := _SCRATCH.search(line)) is not None:
        hint = "mount a volume of the overlay with `data`, and use its path"
        draft.drop(place, f"the path `{scratch[0]}`", "a pod has only its volumes", hint)
    if _CONTAINER.search(line) is not None:
        hint = "set `image` to this image, and write only the program as `command`"
        draft.drop(place, "the image of the command", "a pod is a container already", hint)
    if _HOSTS.search(line) is not None:
        hint = "use `$MASTER_ADDR` and `$MASTER_PORT`; pods of `kind: mpi` have `/etc/mpi/hostfile` instead"
        draft.drop(place, "the list of nodes", "pods have no list of hosts", hint)
    if line.lstrip().startswith("#SBATCH"):
        draft.drop(place, f"`{line.strip()}`", "Slurm ignores it behind the first command", "remove it")
        return
    shown = _without_secrets(draft, line, place)
    if shown is not None:
        body.lines.append(_without_srun(draft, body, shown, place))
    elif line[:1].isspace():
        body.lines.append(f"{line[: -len(line.lstrip())]}:")  # a condition or a loop needs a command


def _without_secrets(draft: JobDraft, line: str, place: Location) -> str | None:
    """A line without the values of secrets, which are errors. None for one that only sets a variable to a secret: it
    becomes a reference.
    """
    shown = line
    for match in _ASSIGNMENT.finditer(line):
        name, value = match["name"], match["value"].strip("\"'")
        if "$(" in match["value"] or "`" in value or not is_secret(name, value):
            continue
        if _ONLY_EXPORT.fullmatch(line):
            draft.variable(name, value, place)
            return None
        hint = "set it on a line of its own, which becomes a reference to a Secret; revoke it if it was ever pushed"
        draft.found.error(
            SECRET_VALUE, place, f"`{name}` in the command is a secret, judging by its name or form", hint
        )
        shown = shown.replace(match["value"], f"${name}")
    return shown


def _without_srun(draft: JobDraft, body: Body, line: str, place: Location) -> str:
    """The program of `srun`: every pod runs the command of the job."""
    match = _SRUN.match(line) or _SRUN.search(line)
    if match is None:
        return line
    body.steps += 1
    rest = match["rest"].replace("\\\n", " ")
    words = rest.split()
    count = _option_words(words)
    try:
        options, _ = options_of(shlex.split(" ".join(words[:count])), place, draft.found)
    except ValueError:
        options = []
    if not body.options:
        body.options = options
    before = line[: match.start("before")] + match["before"]
    return before + " ".join(words[count:]) if "\n" in match["rest"] else before + _after(match["rest"], words[:count])


def _after(rest: str, words: list[str]) -> str:
    """The text behind some words, with its spaces."""
    for word in words:
        rest = rest.lstrip()[len(word) :]
    return rest.lstrip()


def _option_words(words: list[str]) -> int:
    """Number of words that are options of `srun`, with their values."""
    index = 0
    while index < len(words) and words[index].startswith("-"):
        index += 2 if name_of(words[index])[2] else 1
    return min(index, len(words))


_TORCHRUN: Final = ("torchrun", "torch.distributed", "accelerate launch", "deepspeed ")
_MPI: Final = ("mpirun", "mpiexec")
_RANKS: Final = {
    "SLURM_PROCID": "RANK",
    "SLURM_NODEID": "NODE_RANK",
    "SLURM_NTASKS": "WORLD_SIZE",
    "SLURM_NPROCS": "WORLD_SIZE",
}
"""Variables of Slurm, and those of a job of kind `batch` with the same value if each node has one task."""


class SlurmImporter(Importer):
    """A script for `sbatch`."""

    summary: ClassVar[str] = "a batch script of Slurm, with its `#SBATCH` lines"

    def read(self, given: ImportInput, found: Findings) -> Sequence[ImportedJob]:
        text = given.text.replace("\r\n", "\n")
        options, start = directives(text, given.file, found)
        place = Location(given.file)
        if not options:
            hint = "name a script with `#SBATCH` lines before its first command"
            found.error(INVALID_COMMAND_LINE, place, "no `#SBATCH` line found", hint)
            return ()
        namespace = given.namespace_of("")
        if not namespace:
            hint = "choose the namespace of all jobs with `gen import --namespace`"
            found.error(INVALID_COMMAND_LINE, place, "the script names no namespace", hint)
            return ()
        name = next((one.value for one in reversed(options) if one.name == "job-name"), "")
        stem = given.file.rsplit("/", 1)[-1].partition(".")[0]
        draft = JobDraft(label(name or stem, "job"), "batch", namespace, place, found)
        body = read_body(draft, text, given.file, start)
        layout = carry(draft, options, body.options, given.image)
        draft.fields["kind"] = _kind(body, layout)
        _program(draft, body, layout, bash=text.startswith(("#!/bin/bash", "#!/usr/bin/env bash", "#!/usr/bin/bash")))
        job = draft.finished(f"Imported from the Slurm script {stem}.")
        return () if job is None else (job,)


def _kind(body: Body, layout: Layout) -> str:
    """`mpi` if a program or Slurm starts several processes on a node, `pytorch` for torchrun, `batch` for others."""
    if layout.nodes == 1 and not any(word in body.text for word in _MPI) and layout.per_node == 1:
        return "batch"
    if any(word in body.text for word in _TORCHRUN):
        return "pytorch"
    if any(word in body.text for word in _MPI) or (body.steps and layout.per_node > 1):
        return "mpi"
    return "batch"


def _program(draft: JobDraft, body: Body, layout: Layout, *, bash: bool) -> None:
    place, kind = draft.place, draft.fields["kind"]
    if body.steps > 1:
        hint = "write a job for each step that needs other nodes, or keep them in one command"
        draft.drop(place, f"the order of {body.steps} `srun` steps", "each pod runs the whole command", hint)
    if kind == "mpi":
        _mpi(draft, body, layout)
    elif kind == "pytorch" and layout.per_node > 1:
        draft.set(layout.per_node, "nprocPerNode", place=place)
    elif layout.per_node > 1:
        hint = "start the processes in `command`, such as with `torchrun --nproc-per-node`"
        draft.drop(place, f"{layout.per_node} tasks on each node", "a pod runs the command once", hint)
    exports = _variables(draft, body, layout, kind)
    command = literal(exports) + _task_index(draft, layout) + literal(body.text)
    if not body.text.strip():
        hint = "add `command` to the job"
        found = draft.found
        found.error(INVALID_COMMAND_LINE, place, "the script has no command", hint)
        return
    draft.set(["bash", "-c", command] if bash else command, "command", place=place)


def _task_index(draft: JobDraft, layout: Layout) -> str:
    """The index of a task: that of the pod in an array, or a parameter of a sweep."""
    if not layout.indices:
        return ""
    if "array" in draft.fields:
        first = f"$((JOB_COMPLETION_INDEX + {layout.indices[0]}))" if layout.indices[0] else '"$JOB_COMPLETION_INDEX"'
        return f"export SLURM_ARRAY_TASK_ID={first}\n"
    draft.set({"matrix": {"task": list(layout.indices)}}, "sweep", place=draft.place)
    return 'export SLURM_ARRAY_TASK_ID="{{ params.task }}"\n'


def _mpi(draft: JobDraft, body: Body, layout: Layout) -> None:
    """`srun` starts all processes; an MPIJob starts them with `mpirun`."""
    draft.set(layout.per_node, "slotsPerWorker", place=draft.place)
    if body.steps == 1 and not any(word in body.text for word in _MPI):
        lines = body.lines
        number = max(index for index, line in enumerate(lines) if line.strip())
        lines[number] = f"mpirun -np {layout.nodes * layout.per_node} {lines[number].strip()}"
    for role in ("cpu", "memory"):
        if role in draft.fields:
            draft.fields.setdefault("roles", {}).setdefault("launcher", {})[role] = {"cpu": 1, "memory": "2Gi"}[role]


def _variables(draft: JobDraft, body: Body, layout: Layout, kind: str) -> str:
    """Commands that set variables of Slurm; others are reported."""
    constants = {
        "SLURM_JOB_NAME": draft.name,
        "SLURM_NNODES": str(layout.nodes),
        "SLURM_JOB_NUM_NODES": str(layout.nodes),
        "SLURM_NTASKS_PER_NODE": str(layout.per_node),
        "SLURM_CPUS_PER_TASK": str(layout.cpus_per_task),
        "SLURM_GPUS_ON_NODE": str(layout.gpus),
    }
    if layout.per_node > 1:
        constants["SLURM_NTASKS"] = constants["SLURM_NPROCS"] = str(layout.nodes * layout.per_node)
    lines = []
    for name in sorted(body.variables):
        if name in constants:
            lines.append(f"export {name}={constants[name]}\n")
        elif name in _RANKS and kind == "batch" and layout.per_node == 1 and "array" not in draft.fields:
            lines.append(f'export {name}="${_RANKS[name]}"\n')
        elif name == "SLURM_LOCALID" and layout.per_node == 1:
            lines.append("export SLURM_LOCALID=0\n")
        elif name == "SLURM_ARRAY_TASK_COUNT" and "array" in draft.fields:
            lines.append('export SLURM_ARRAY_TASK_COUNT="$TASK_COUNT"\n')
        elif not (name == "SLURM_ARRAY_TASK_ID" and layout.indices):
            hint = (
                "use a variable of the kind in its place; `gen explain` and `docs/operators.md` have those of each kind"
            )
            draft.drop(draft.place, f"`{name}`", "a pod does not have this variable of Slurm", hint)
    return "".join(lines)
