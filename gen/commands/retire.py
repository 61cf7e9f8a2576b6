"""`gen retire`: set the jobs of ended runs to `finished`. It changes job files, and nothing in a cluster."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct

from gen.base import Diagnostic, Findings, Location, counted
from gen.base.codes.clusters import NOT_RETIRED
from gen.base.codes.jobs import CANNOT_EDIT
from gen.base.codes.rendered import MAY_STILL_RUN
from gen.base.engines import RECORDS
from gen.base.repository.files import replace_files
from gen.base.repository.layout import JobFile, RenderedPath, source_job
from gen.base.yaml.source import Source, read, source_of
from gen.commands import common
from gen.commands.rendering import RenderRequest, render_and_compare
from gen.commands.set import Assignment, with_fields
from gen.commands.verb import Draft, caused_errors, change_files
from gen.edit.change import Change
from gen.kubernetes.rules import SILENCE
from gen.live.desired import DesiredRun
from gen.live.model import Phase, RunStatus
from gen.render.starters import starter_of_object
from gen.report.formats import Report


class Obstacle(StrEnum):
    """Reason not to finish a job with an ended run."""

    SCHEDULED = "it has a schedule, which goes on"
    OTHER_RUNS = "other runs of it have not ended"
    UNKNOWN = "the state of a run in another cluster is not known"
    FAILED = "a run failed"


class EndedJob(Struct, frozen=True, kw_only=True):
    """A job with an ended run. `gen retire` finishes it unless there is an obstacle."""

    job: JobFile
    runs: tuple[RunStatus, ...]
    """Its ended runs."""
    obstacle: Obstacle | None = None
    parts: tuple[Mapping[str, str], ...] = ()
    """Values of the runs of a sweep that have ended, if they can be finished without the others."""
    swept: bool = False
    """Whether they are runs of a sweep."""


_Rows = list[tuple["DesiredRun", "RunStatus | None"]]


def ended_jobs(runs: Iterable[RunStatus], desired: Sequence[DesiredRun], *, keep_failed: bool) -> list[EndedJob]:
    """The jobs with ended runs that are not finished in Git. `desired` has the runs of all overlays."""
    rows: Mapping[tuple[str, str, str, str], RunStatus] = {
        (run.overlay, run.namespace, run.kind, run.name): run
        for run in runs
        if run.desired is not None and not run.parent
    }
    by_job: dict[JobFile, _Rows] = defaultdict(list)
    for one in desired:
        if one.source is not None and one.state not in RECORDS:
            row = rows.get((one.overlay, one.namespace, one.resource.kind, one.name))
            by_job[one.source].append((one, row))
    found = (_ended(job, own, keep_failed=keep_failed) for job, own in sorted(by_job.items()))
    return [one for one in found if one is not None]


def _ended(job: JobFile, own: _Rows, *, keep_failed: bool) -> EndedJob | None:
    states = [row for _, row in own]
    done = tuple(row for row in states if row is not None and row.phase.ended)
    if not done:
        return None
    scheduled = any(starter_of_object(one.resource).repeats for one, _ in own)
    obstacle = _obstacle(states, scheduled=scheduled, keep_failed=keep_failed)
    if obstacle is not None and not scheduled and all(one.values for one, _ in own):
        parts = _parts(own, keep_failed=keep_failed)
        if parts:
            finished = tuple(row for values, rows in parts for row in rows)
            return EndedJob(job=job, runs=finished, parts=tuple(values for values, _ in parts), swept=True)
    return EndedJob(job=job, runs=done, obstacle=obstacle, swept=any(one.values for one, _ in own))


def _parts(own: _Rows, *, keep_failed: bool) -> list[tuple[Mapping[str, str], list[RunStatus]]]:
    """Combinations of a sweep that have ended in all overlays, and have values that no other combination has."""
    by_values: dict[str, _Rows] = defaultdict(list)
    for one in own:
        by_values[one[0].values].append(one)
    every = {text: values for text in by_values if (values := _values(text)) is not None}
    found: list[tuple[Mapping[str, str], list[RunStatus]]] = []
    for text, values in every.items():
        rows = [row for _, row in by_values[text]]
        known = [row for row in rows if row is not None]
        wider = any(values.items() < other.items() for other in every.values())
        if not wider and _obstacle(rows, scheduled=False, keep_failed=keep_failed) is None:
            found.append((values, known))
    return found


def _values(text: str) -> dict[str, str] | None:
    """Values in an annotation, which anybody can have edited in `rendered/`."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    plain = isinstance(values, dict) and all(isinstance(value, str) for value in values.values())
    return values if plain else None


def _obstacle(states: Sequence[RunStatus | None], *, scheduled: bool, keep_failed: bool) -> Obstacle | None:
    phases = {row.phase for row in states if row is not None}
    if scheduled:
        return Obstacle.SCHEDULED
    if None in states or Phase.UNKNOWN in phases:
        return Obstacle.UNKNOWN
    if not all(phase.ended for phase in phases):
        return Obstacle.OTHER_RUNS
    return Obstacle.FAILED if keep_failed and Phase.FAILED in phases else None


_FINISHED = [Assignment("state", "finished")]
_ENDED = ("annotations", f"{SILENCE}{MAY_STILL_RUN.name}")
"""Why plans need not warn that the run may go on."""


class Request(common.LiveRequest, frozen=True, kw_only=True):
    jobs: common.Jobs = ()
    keep_failed: Annotated[bool, typer.Option("--keep-failed", help="Leave jobs with a failed run as they are.")] = (
        False
    )
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the jobs, and change no file.")] = False
    message: common.Message = None


def run(request: Request) -> common.Result[Report]:
    """Exit code 1 if a cluster did not answer, or a file cannot be changed. All other jobs are retired even then."""
    found = Findings()
    root = common.repository(request.root)
    questions = common.cluster_questions(request, request.jobs, found)
    from gen.live.clusters import read_status
    from gen.live.desired import desired_runs
    from gen.overlay.read import OverlayReader

    status = read_status(questions, found)
    every = [overlay.name for overlay in OverlayReader(root, Findings()).read()]
    desired = desired_runs(root, every, _set(common.named_jobs(root, request.jobs)))
    ended = ended_jobs(status.runs, desired, keep_failed=request.keep_failed)
    reported = Findings([one for one in status.findings if one.is_error])
    ready = _up_to_date(root, [one for one in ended if one.obstacle is None], reported)
    for one in ended:
        if one.obstacle is not None:
            _note(one.job, str(one.obstacle), reported)
    done = ready if request.dry_run else [*_finish(root, ready, reported), *_finish_parts(root, ready, reported)]
    text = message(done)
    if request.message is not None and not request.dry_run:
        request.message.write_text(text, "utf-8")
    code = common.VIOLATIONS if reported.failed() else common.CLEAN
    summary = text.rstrip("\n") if done else "no jobs to retire"
    return common.Result(output=Report(tuple(reported), (), summary, root=root), exit_code=code)


def message(done: Sequence[EndedJob]) -> str:
    """A commit message: the retired jobs, and how their runs ended. Empty without any job."""
    if not done:
        return ""
    subject = f"Retire {done[0].job.key}" if len(done) == 1 else f"Retire {counted(len(done), 'job')}"
    return common.commit_message(subject, [f"{one.job.key}: {_ends(one)}" for one in done])


def _ends(one: EndedJob) -> str:
    """`resnet-1a2b3c4d succeeded in ack`, or the numbers of several runs."""
    if len(one.runs) == 1 and not one.parts:
        (run,) = one.runs
        return f"{run.name} {run.phase} in {run.overlay}"
    phases = Counter(run.phase for run in one.runs)
    if one.parts:
        numbers = ", ".join(f"{number} {phase}" for phase, number in phases.items())
        return f"{counted(len(one.parts), 'combination')} of its sweep, {numbers}"
    return f"{counted(len(one.runs), 'run')}, " + ", ".join(f"{number} {phase}" for phase, number in phases.items())


def _set(jobs: Sequence[JobFile] | None) -> frozenset[JobFile] | None:
    return None if jobs is None else frozenset(jobs)


def _up_to_date(root: Path, ended: Sequence[EndedJob], found: Findings) -> list[EndedJob]:
    """The jobs with current rendered files. Otherwise the ended run may not be that of the job file."""
    stale, failed = _stale(root, ended)
    if failed:  # errors of one file keep all from being compared
        found.extend(failed)
        broken = {source_job(item.place.file) for item in failed}
        valid = [one for one in ended if one.job not in broken]
        stale = _stale(root, valid)[0] | broken if len(valid) < len(ended) else {one.job for one in ended}
    for one in ended:
        if one.job in stale:
            _note(one.job, "`rendered/` is not up to date, so its run may not be that of the file", found)
    return [one for one in ended if one.job not in stale]


def _stale(root: Path, ended: Sequence[EndedJob]) -> tuple[set[JobFile | None], list[Diagnostic]]:
    """The jobs with rendered files that would change, and errors that prevent a comparison."""
    if not ended:
        return set(), []
    compared = render_and_compare(RenderRequest(root=root, jobs=tuple(one.job.file for one in ended), parallel=1), None)
    if compared.comparison is None:
        return set(), [item for item in compared.rendering.findings if item.is_error]
    folders = {_folder(change.path) for change in compared.comparison.changes}
    return {one.job for one in ended if folders & {_folder(run.rendered) for run in one.runs}}, []


def _folder(path: str) -> tuple[str, str, str]:
    parts = RenderedPath.parse(path)
    return parts.overlay, parts.namespace, parts.job


def _finish(root: Path, every: Sequence[EndedJob], found: Findings) -> list[EndedJob]:
    """Change all files at once; if one cannot be changed, each alone."""
    ended = [one for one in every if not one.parts]
    if not ended:
        return []
    edit = partial(_finished, {one.job: one for one in ended})
    together = change_files(root, [one.job for one in ended], edit, Findings())
    if together.exit_code == common.CLEAN:
        return list(ended)
    done = []
    for one in ended:
        result = change_files(root, [one.job], edit, Findings())
        if result.exit_code == common.CLEAN:
            done.append(one)
        else:
            found.extend(result.output.findings)
    return done


def _finished(ended: Mapping[JobFile, EndedJob], job: JobFile, source: Source, found: Findings) -> Draft:
    """The file of a finished job, with how its runs ended."""
    why = ", ".join(f"{run.name} {run.phase} in {run.overlay}" for run in ended[job].runs)
    return with_fields(_FINISHED, job, source, found).with_change(source, Change(_ENDED, why), found)


def _finish_parts(root: Path, every: Sequence[EndedJob], found: Findings) -> list[EndedJob]:
    """Finish the ended combinations of sweeps, and those that `overrides` keep active, each file alone."""
    if not any(one.swept for one in every):
        return []
    from gen.edit.change import EditError, unfinished, with_finished
    from gen.overlay.read import OverlayReader

    overlays = OverlayReader(root, Findings()).read()
    done = []
    for one in (one for one in every if one.swept):
        source = read(root, one.job.file, found)
        parts = one.parts or (unfinished(source.data) if source is not None else ())
        if source is None or not parts:
            continue
        try:
            raw = with_finished(source.text, parts).encode()
        except EditError as error:
            found.error(CANNOT_EDIT, source.place(error.route), error.message, error.hint)
            continue
        new = source_of(raw, one.job.file, found)
        errors = caused_errors(source, new, one.job, overlays) if new is not None else []
        found.extend(errors)
        if new is not None and not errors:
            replace_files(root, {one.job.file: raw})
            done += [one] if one.parts else []
    return done


def _note(job: JobFile, why: str, found: Findings) -> None:
    hint = f"run `gen set {job.key} state=finished` if its runs are no longer needed"
    found.warning(NOT_RETIRED, Location(job.file), f"the job is not retired: {why}", hint)
