"""The immutable result of each stage of a render, from a job file to its runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from gen.base import Findings
from gen.base.repository.layout import JobFile
from gen.base.yaml.source import Source
from gen.job.plan import Plan
from gen.overlay.overlay import Overlay
from gen.pins.lock import Pins
from gen.render.committed import CommittedRuns
from gen.render.emit import Record
from gen.render.job_run import ExpandedRun, JobRun, RunValues, WrittenJob
from gen.render.results import BuiltObjects, PatchedObjects, RenderedJob, SealedObjects, ValidObjects

Ahead = Callable[[], Mapping[str, Source] | None]
"""Waits for job files that another process reads, by path; None if the process was killed."""


class Inputs(Struct, frozen=True, kw_only=True):
    """Inputs of a render besides job files."""

    root: Path
    overlays: Sequence[Overlay]
    committed: CommittedRuns | None = None
    """Runs to keep if their jobs did not change. Without them, every run is rendered from its job."""
    sources: Mapping[str, Source] = {}
    """Job files that were read already, by path."""
    whole: bool = True
    """Whether `overlays` are all overlays of the repository."""


class Work(Struct, frozen=True, kw_only=True):
    """An item between two stages."""

    @property
    def size(self) -> int:
        """Number of its runs, as far as it is known."""
        return 1

    def end(self) -> tuple[EndedRun, ...]:
        """The ends of its runs, after an exception. Their findings may get more."""
        raise NotImplementedError


class RequestedFile(Work, frozen=True, kw_only=True):
    """A job file that was not read yet."""

    job: JobFile
    inputs: Inputs

    def end(self) -> tuple[EndedRun, ...]:
        file = LoadedFile(job=self.job, source=None, overlays=tuple(self.inputs.overlays))
        return (EndedRun(file=file, found=file.found),)


class LoadedFile(Struct, frozen=True, kw_only=True):
    """A job file that was read, which its items in all overlays share."""

    job: JobFile
    source: Source | None
    """None if it cannot be read."""
    overlays: tuple[Overlay, ...]
    """Overlays that select it."""
    pins: Pins | None = None
    """Without them, images and code need none."""
    whole: bool = True
    found: Findings = field(default_factory=Findings)


class LoadedJob(Work, frozen=True, kw_only=True):
    """A job file in one of its overlays."""

    file: LoadedFile
    source: Source
    overlay: Overlay
    committed: CommittedRuns | None
    found: Findings = field(default_factory=Findings)
    """Findings about the job that are not about one of its runs."""

    def end(self) -> tuple[EndedRun, ...]:
        return (EndedRun(file=self.file, job=self),)


class ModelledJob(Work, frozen=True, kw_only=True):
    """A job with its model, the defaults of the overlay, and the values of its runs."""

    job: LoadedJob
    written: WrittenJob
    values: tuple[RunValues | None, ...]

    @property
    def size(self) -> int:
        return len(self.values)

    def end(self) -> tuple[EndedRun, ...]:
        return self.job.end()


class ExpandedJob(Work, frozen=True, kw_only=True):
    """A job with all of its runs and validated fields."""

    job: LoadedJob
    runs: tuple[ExpandedRun, ...]

    @property
    def size(self) -> int:
        return len(self.runs)

    def end(self) -> tuple[EndedRun, ...]:
        return tuple(ended(self.job, run) for run in self.runs)


class PlannedPart(Struct, frozen=True, kw_only=True):
    """A run with its plan, or a step of a pipeline. The steps of a run follow it."""

    run: JobRun
    plan: Plan
    found: Findings


class PlannedRun(Work, frozen=True, kw_only=True):
    """A run without errors, and all decisions about it."""

    job: LoadedJob
    one: ExpandedRun
    parts: tuple[PlannedPart, ...]

    @property
    def plan(self) -> Plan:
        return self.parts[0].plan

    def end(self) -> tuple[EndedRun, ...]:
        return (ended(self.job, self.one),)


class OfPlan(Work, frozen=True, kw_only=True):
    """A run after the plan."""

    planned: PlannedRun

    def end(self) -> tuple[EndedRun, ...]:
        return self.planned.end()


class BuiltRun(OfPlan, frozen=True, kw_only=True):
    built: tuple[BuiltObjects, ...]
    """Objects of each part."""


class PatchedRun(OfPlan, frozen=True, kw_only=True):
    patched: tuple[PatchedObjects | None, ...]
    """Objects of each part; None after an error."""


class ValidRun(OfPlan, frozen=True, kw_only=True):
    """The valid objects of a run and its steps."""

    patched: PatchedObjects
    valid: ValidObjects


class StartedRun(OfPlan, frozen=True, kw_only=True):
    """A run in the object that starts it."""

    patched: PatchedObjects
    valid: ValidObjects


class SealedRun(OfPlan, frozen=True, kw_only=True):
    started: StartedRun
    sealed: SealedObjects


class EmittedRun(OfPlan, frozen=True, kw_only=True):
    """The files of a run that is rendered from its job."""

    started: StartedRun
    rendered: RenderedJob
    record: Record


class EndedRun(Work, frozen=True, kw_only=True):
    """A run at its end. A job file that no overlay selects, and a job without runs, end like a run."""

    file: LoadedFile
    job: LoadedJob | None = None
    """None if the file cannot be read or is not selected."""
    overlay: str = ""
    name: str = ""
    """Name of the run; empty without one."""
    label: str = ""
    """The values of a run of a sweep, for messages."""
    found: Findings = field(default_factory=Findings)
    """Findings about the run."""
    rendered: RenderedJob | None = None
    """None after an error."""

    @property
    def size(self) -> int:
        return 0


def ended(job: LoadedJob, one: ExpandedRun, rendered: RenderedJob | None = None) -> EndedRun:
    return EndedRun(file=job.file, job=job, name=one.name, label=one.label, found=one.found, rendered=rendered)
