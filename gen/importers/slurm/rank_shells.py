"""Programs that the shell of a process of MPI starts: behind a file that it reads with `source`, and in a folder with
its rank, which the launcher does not know.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from gen.base import regex
from gen.importers.draft import JobDraft
from gen.importers.slurm.bash_text import cut
from gen.importers.slurm.expansion import RUN_ID, shown, source_text
from gen.importers.slurm.lines_of_runs import line_of
from gen.importers.slurm.programs import VARIABLE, Entered, way
from gen.importers.slurm.steps import Run, parts_of

SOURCES: Final = "source "


def in_own_shells(runs: Sequence[Run]) -> list[Run]:
    """The programs, with those of a task behind `source` as a single one, which `mpirun` can start."""
    made: list[Run] = []
    left = [*runs]
    while left:
        some = _of_shell(left)
        made.append(_joined(some) if len(some) > 1 else some[0])
        del left[: len(some)]
    return made


def _of_shell(runs: Sequence[Run]) -> list[Run]:
    """The first program with those of its shell, if this reads a file and a single text of a shell can have all."""
    first = runs[0]
    if not (first.by_srun and first.text.startswith(SOURCES) and first.shells):
        return [first]
    end = next((at for at, one in enumerate(runs) if first.shells[-1] not in one.shells), len(runs))
    some = [*runs[:end]]
    parts = (part for one in some for part in parts_of(one))
    known = all(
        "$(" not in part and all(name == RUN_ID or name.startswith("OMPI_") for name in VARIABLE.findall(part))
        for part in parts
    )
    is_one = all(one.shells == first.shells and one.folder == first.folder and not one.assigned for one in some)
    one_mode = len({one.stops is True for one in some[:-1]}) == 1
    return some if known and is_one and one_mode else [first]


def _joined(some: Sequence[Run]) -> Run:
    """One program for those of a shell."""
    first, last = some[0], some[-1]
    inner = [*some[:-1], replace(last, input="", output=("", ""), otherwise="", background=False)]
    text = f"{'set -e; ' * (first.stops is True)}{line_of(inner[0])}"
    for one in inner[1:]:
        text += f"{' &&' if one.joined else ';'} {line_of(one)}"
    return replace(
        last,
        words=("bash", "-c", text),
        text="",
        assigned=(),
        place=first.place,
        joined=first.joined,
        entered=first.entered,
        shells=first.shells[:-1],
        launcher=None,
        at=0,
    )


_OF_RANK: Final = regex(r"\bOMPI_COMM_WORLD_|\$RANK\b|\$\{RANK\b")


def has_rank(folder: str) -> bool:
    """Whether a folder is one of each process."""
    return _OF_RANK.search(folder) is not None


def of_launchers(runs: Sequence[Run]) -> list[str]:
    """The folder in which the launcher starts each program: the last one without a rank."""
    made, now = list[str](), ""
    for one in runs:
        now = now if has_rank(one.folder) else one.folder
        made.append(now)
    return made


def way_to_folder(run: Run, outer: str) -> str:
    """`cd` of each process to its folder, in front of its program."""
    entered = run.entered
    end = f" || {entered.otherwise};" if entered.otherwise else " &&" if entered.joins or run.stops else ";"
    return f"cd {shown(way(outer, run.folder) or run.folder)}{end}"


def in_outer_folder(draft: JobDraft, run: Run, outer: str) -> Run:
    """A program whose processes go to their folders, started in the folder of the launcher."""
    path = run.output[1]
    if path and not path.startswith("/"):
        what, hint = f"the folder of `{cut(source_text(path))}`", "write the file by its whole path"
        draft.drop(run.place, what, "the pod of the launcher writes it into its own folder", hint)
    return replace(run, folder=outer, entered=Entered())


def report_rank(draft: JobDraft, run: Run, *, in_tasks: bool) -> None:
    """Report a part of a shell in a folder that only a process knows, if none has it."""
    if in_tasks or not has_rank(run.folder) or not (draft.fields["kind"] == "mpi" or "OMPI_" in run.folder):
        return
    what = f"only a process of MPI knows the folder `{cut(source_text(run.folder))}`, and the job starts none here"
    draft.cannot_run(run.place, what, "write this part into a file, and start that with `srun`")
