"""The verdict on imported jobs, the same for every importer: each is rendered in memory, in the overlay of the import.

A job is ready, needs fields of the overlay, does not render, or renders and cannot run. The reader of commands judges
its program, as in every render.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Diagnostic, Findings, counted
from gen.base.codes import commands
from gen.base.codes.imports import CANNOT_RUN
from gen.base.repository.layout import JobFile
from gen.base.yaml.source import source_of
from gen.base.yaml.user_text import written
from gen.importers.base import ImportedJob
from gen.importers.draft import place_of, text_of
from gen.overlay.overlay import Overlay
from gen.overlay.read import OverlayReader
from gen.render.pipeline import render_job
from gen.render.results import JobInOverlay

NAME: Final = "imported"
"""Name of the overlay with only the fields for the jobs, if none is named."""
_KUBERNETES: Final = "1.37"
"""Kubernetes version for the check of the objects, if no overlay is named."""


class Outcome(StrEnum):
    """How an import of a job ended, from best to worst."""

    READY = "ready"
    NEEDS = "needs fields of the overlay"
    CANNOT_RUN = "renders, but cannot run"
    NOT_RENDERED = "does not render"


class Verdict(Struct, frozen=True):
    """The outcome for a job, and why it is not a better one."""

    job: ImportedJob
    outcome: Outcome
    why: tuple[Diagnostic, ...] = ()

    @property
    def line(self) -> str:
        """The verdict for people."""
        first = next(iter(self.why), None)
        more = f", and {len(self.why) - 1} more" if len(self.why) > 1 else ""
        why = f": {first.message} ({first.place}{more})" if first is not None else ""
        return f"{self.job.namespace}/{self.job.name} {self.outcome}{why}"


_HOPELESS: Final = frozenset(
    one.name
    for one in (
        *(CANNOT_RUN, commands.CUT_COMMAND, commands.ENDS_AT_ONCE, commands.NOT_IN_A_POD, commands.NO_HOOK),
        *(commands.NO_LAUNCHER, commands.NO_RENDEZVOUS, commands.POD_COUNT, commands.MISSING_PATH),
    )
)
"""Codes of findings with which a program fails, waits forever or trains alone, even where they are warnings."""


def overlay_text(needed: Mapping[str, object]) -> str:
    """The text of an overlay with only the fields for the jobs."""
    return written({"kubernetes": _KUBERNETES, **needed})


def judge(root: Path, job: ImportedJob, overlay: str, text: str, *, lacks: bool, found: Findings) -> Verdict:
    """Render a job in an overlay with this text, and report the reason if it cannot run. `lacks` is whether the overlay
    of the user lacks fields that the text has.
    """
    own = Findings()
    in_memory(root, job, overlay, text, own)
    errors = [item for item in own if item.is_error]
    hopeless = [item for item in own if item.code in _HOPELESS and not item.is_error]
    found.extend([*errors, *hopeless])
    if errors:
        return Verdict(job, Outcome.NOT_RENDERED, tuple(errors))
    if hopeless or job.obstacles:
        return Verdict(job, Outcome.CANNOT_RUN, (*job.obstacles, *hopeless))
    return Verdict(job, Outcome.NEEDS if lacks else Outcome.READY)


def in_memory(root: Path, job: ImportedJob, overlay: str, text: str, found: Findings) -> JobInOverlay | None:
    """All runs of a job in an overlay with this text; None if it has an error. Findings about the job have the place
    of its origin.
    """
    known: Overlay | None = OverlayReader(root, found).of_text(overlay, text)
    file = JobFile(job.namespace, job.name).file
    written_text = text_of(job, "")
    source = source_of(written_text.encode("utf-8", "surrogateescape"), file, found)
    if known is None or source is None:
        return None
    own = Findings()
    result = render_job(source, job.namespace, known, own)
    for item in own:
        place = place_of(job, written_text, item.place.line) if item.place.file == file else item.place
        found.extend([replace(item, place=place)])
    return None if own.failed() or not result.rendered else result


def summary(verdicts: Sequence[Verdict]) -> list[str]:
    """The lines about jobs that are written: how many are ready, and why others are not."""
    jobs = counted(len(verdicts), "job")
    outcomes = {one.outcome for one in verdicts}
    if outcomes <= {Outcome.READY}:
        return [f"imported {jobs}, {'all' if len(verdicts) > 1 else 'which is'} ready; run `gen render`"]
    counts = [(outcome, sum(one.outcome is outcome for one in verdicts)) for outcome in Outcome]
    known = "; ".join(f"{number} {outcome}" for outcome, number in counts if number)
    if len(verdicts) == 1:
        known = verdicts[0].outcome
    return [f"wrote {jobs}: {known}", *(f"  {one.line}" for one in verdicts if one.why or Outcome.READY in outcomes)]
