"""Programs that the shell of a process of MPI starts behind a file that it reads with `source`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from gen.importers.slurm.expansion import RUN_ID
from gen.importers.slurm.programs import VARIABLE
from gen.importers.slurm.steps import Run, line_of, parts_of

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
