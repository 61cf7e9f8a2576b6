"""Numbers of pods and processes that a script gives its programs, and of which the pods of its job have others."""

from __future__ import annotations

from msgspec.structs import replace

from gen.importers.draft import JobDraft
from gen.importers.slurm.expansion import marked
from gen.importers.slurm.processes import OF_SHELL, reads_none
from gen.importers.slurm.site import OF_KIND
from gen.importers.slurm.steps import RENDEZVOUS, Run
from gen.job.kinds import ALL_KINDS


def with_numbers(draft: JobDraft, run: Run) -> Run:
    """A program without a launcher, with the ranks and numbers of processes in front of it that its pod lacks."""
    kind, several = draft.fields["kind"], "workers" in draft.fields
    if kind == "mpi" or run.text or run.launcher is not None:
        return run
    workers, rank = str(draft.fields.get("workers", 1)), marked("$RANK")
    of_pod = {"RANK": rank, "WORLD_SIZE": workers, "NODE_RANK": rank, "NNODES": workers} if several else {}

    def differs(name: str, value: str) -> bool:
        if name in RENDEZVOUS:
            return several and value in ("localhost", "127.0.0.1")
        lacks = f"PET_{name}" in ALL_KINDS[kind].reserved_env
        return name in OF_KIND and (lacks or value != of_pod.get(name))

    given = {} if reads_none(run) or run.words[:1] in OF_SHELL else run.exported
    names = sorted(OF_KIND & given.keys() - dict(run.assigned).keys())
    own = [(name, str(given[name])) for name in names if name.endswith(("SIZE", "NNODES"))]
    own = [one for one in own if one[1].isdecimal() and (several or one[1] != "1")]  # that of one pod
    return replace(run, numbers=tuple(one for one in (*own, *run.assigned) if differs(*one)))
