"""`gen import slurm`: batch scripts. Nothing in them is run."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from gen.diagnostics import Location
from gen.findings.imports import INVALID_COMMAND_LINE
from gen.importers.base import Given, ImportedJob, Importer
from gen.importers.draft import JobDraft, label, literal
from gen.importers.slurm.body import Body, read_body
from gen.importers.slurm.directives import Wanted, carry
from gen.importers.slurm.options import directives

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gen.diagnostics import Findings

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

    def read(self, given: Given, found: Findings) -> Sequence[ImportedJob]:
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
        wanted = carry(draft, options, body.options, given.image)
        draft.fields["kind"] = _kind(body, wanted)
        _program(draft, body, wanted, bash=text.startswith(("#!/bin/bash", "#!/usr/bin/env bash", "#!/usr/bin/bash")))
        job = draft.finished(f"Imported from the Slurm script {stem}.")
        return () if job is None else (job,)


def _kind(body: Body, wanted: Wanted) -> str:
    """`mpi` if a program or Slurm starts several processes on a node, `pytorch` for torchrun, `batch` for others."""
    if wanted.nodes == 1 and not any(word in body.text for word in _MPI) and wanted.per_node == 1:
        return "batch"
    if any(word in body.text for word in _TORCHRUN):
        return "pytorch"
    if any(word in body.text for word in _MPI) or (body.steps and wanted.per_node > 1):
        return "mpi"
    return "batch"


def _program(draft: JobDraft, body: Body, wanted: Wanted, *, bash: bool) -> None:
    place, kind = draft.place, draft.fields["kind"]
    if body.steps > 1:
        hint = "write a job for each step that needs other nodes, or keep them in one command"
        draft.drop(place, f"the order of {body.steps} `srun` steps", "each pod runs the whole command", hint)
    if kind == "mpi":
        _mpi(draft, body, wanted)
    elif kind == "pytorch" and wanted.per_node > 1:
        draft.set(wanted.per_node, "nprocPerNode", place=place)
    elif wanted.per_node > 1:
        hint = "start the processes in `command`, such as with `torchrun --nproc-per-node`"
        draft.drop(place, f"{wanted.per_node} tasks on each node", "a pod runs the command once", hint)
    exports = _variables(draft, body, wanted, kind)
    command = literal(exports) + _task_index(draft, wanted) + literal(body.text)
    if not body.text.strip():
        hint = "add `command` to the job"
        found = draft.found
        found.error(INVALID_COMMAND_LINE, place, "the script has no command", hint)
        return
    draft.set(["bash", "-c", command] if bash else command, "command", place=place)


def _task_index(draft: JobDraft, wanted: Wanted) -> str:
    """The index of a task: that of the pod in an array, or a parameter of a sweep."""
    if not wanted.indices:
        return ""
    if "array" in draft.fields:
        first = f"$((JOB_COMPLETION_INDEX + {wanted.indices[0]}))" if wanted.indices[0] else '"$JOB_COMPLETION_INDEX"'
        return f"export SLURM_ARRAY_TASK_ID={first}\n"
    draft.set({"matrix": {"task": list(wanted.indices)}}, "sweep", place=draft.place)
    return 'export SLURM_ARRAY_TASK_ID="{{ params.task }}"\n'


def _mpi(draft: JobDraft, body: Body, wanted: Wanted) -> None:
    """`srun` starts all processes; an MPIJob starts them with `mpirun`."""
    draft.set(wanted.per_node, "slotsPerWorker", place=draft.place)
    if body.steps == 1 and not any(word in body.text for word in _MPI):
        lines = body.lines
        number = max(index for index, line in enumerate(lines) if line.strip())
        lines[number] = f"mpirun -np {wanted.nodes * wanted.per_node} {lines[number].strip()}"
    for role in ("cpu", "memory"):
        if role in draft.fields:
            draft.fields.setdefault("roles", {}).setdefault("launcher", {})[role] = {"cpu": 1, "memory": "2Gi"}[role]


def _variables(draft: JobDraft, body: Body, wanted: Wanted, kind: str) -> str:
    """Commands that set variables of Slurm; others are reported."""
    constants = {
        "SLURM_JOB_NAME": draft.name,
        "SLURM_NNODES": str(wanted.nodes),
        "SLURM_JOB_NUM_NODES": str(wanted.nodes),
        "SLURM_NTASKS_PER_NODE": str(wanted.per_node),
        "SLURM_CPUS_PER_TASK": str(wanted.cpus_per_task),
        "SLURM_GPUS_ON_NODE": str(wanted.gpus),
    }
    if wanted.per_node > 1:
        constants["SLURM_NTASKS"] = constants["SLURM_NPROCS"] = str(wanted.nodes * wanted.per_node)
    lines = []
    for name in sorted(body.variables):
        if name in constants:
            lines.append(f"export {name}={constants[name]}\n")
        elif name in _RANKS and kind == "batch" and wanted.per_node == 1 and "array" not in draft.fields:
            lines.append(f'export {name}="${_RANKS[name]}"\n')
        elif name == "SLURM_LOCALID" and wanted.per_node == 1:
            lines.append("export SLURM_LOCALID=0\n")
        elif name == "SLURM_ARRAY_TASK_COUNT" and "array" in draft.fields:
            lines.append('export SLURM_ARRAY_TASK_COUNT="$TASK_COUNT"\n')
        elif not (name == "SLURM_ARRAY_TASK_ID" and wanted.indices):
            hint = (
                "use a variable of the kind in its place; `gen explain` and `docs/operators.md` have those of each kind"
            )
            draft.drop(draft.place, f"`{name}`", "a pod does not have this variable of Slurm", hint)
    return "".join(lines)
