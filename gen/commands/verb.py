"""Edits of job files, all or none if one would become invalid, and what `stop`, `rerun`, `suspend`, `resume` and
`finish` have in common: their effect in a sentence for each job.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import Struct

from gen.base import Diagnostic, Findings, Route, UsageError, as_mapping, at, counted, dotted, follow
from gen.base.codes.jobs import CANNOT_EDIT
from gen.base.codes.rendered import MAY_STILL_RUN
from gen.base.engines import ENGINES, RECORDS
from gen.base.repository.files import replace_files
from gen.base.repository.git import CommittedFiles
from gen.base.repository.job_files import chosen_jobs
from gen.base.repository.layout import JobFile
from gen.base.yaml.source import Source, read, source_of
from gen.base.yaml.strict import parse
from gen.commands.common import DryRun, Result, Root, complete_jobs, repository
from gen.commands.rendering import refused
from gen.edit.change import (
    VERBS,
    Change,
    EditError,
    RunsChange,
    Verb,
    When,
    override,
    parse_when,
    runs_change,
    with_overrides,
)
from gen.edit.checks import check_quota, in_old_file, job_findings
from gen.edit.splice import edited, flow
from gen.job.scalars import clipped
from gen.kubernetes.facts.pods import templates_by_shape
from gen.kubernetes.facts.server_defaults import GRACE_PERIOD_S
from gen.overlay.overlay import Overlay, selects
from gen.overlay.read import OverlayReader
from gen.render.rendered_object import generated_object, workload
from gen.report.formats import Report
from gen.review.history import saved_by

if TYPE_CHECKING:
    from gen.live.desired import DesiredRun


_BOM = "\ufeff".encode()
MAX_LISTED_FILES = 40
"""Changes of more files are only counted."""


class Draft(Struct, frozen=True, kw_only=True):
    """The new text of a job file."""

    text: str
    changes: tuple[str, ...] = ()
    """Descriptions of the changed fields."""
    routes: tuple[Route, ...] = ()
    """The fields."""
    notes: tuple[str, ...] = ()
    """What becomes of the job's runs, in sentences."""

    def with_change(self, source: Source, change: Change, found: Findings) -> Draft:
        """The text with one more change, which is reported if it is impossible."""
        routes = (*self.routes, change.route)
        try:
            text = edited(self.text, change)
        except EditError as error:
            found.error(CANNOT_EDIT, source.place(error.route), error.message, error.hint)
            return Draft(text=self.text, changes=self.changes, routes=routes, notes=self.notes)
        changes = self.changes if text == self.text else (*self.changes, _description(source, change))
        return Draft(text=text, changes=changes, routes=routes, notes=self.notes)


Edit = Callable[[JobFile, Source, Findings], Draft]


class _EditedFile(Struct, frozen=True):
    file: str
    raw: bytes
    draft: Draft


def change_files(
    root: Path, jobs: Sequence[JobFile], edit: Edit, listed: Findings, *, dry_run: bool = False
) -> Result[Report]:
    """Edit all files, or none if one would become invalid."""
    overlays = OverlayReader(root, Findings()).read()  # `gen render` reports errors in overlays
    found = Findings() if jobs else listed  # errors in other files do not matter here
    results = [_edit(root, job, edit, overlays, found) for job in jobs]
    if not found.failed():
        pairs = zip(jobs, results, strict=True)
        changed = {job: one.raw for job, one in pairs if one is not None and one.draft.changes}
        check_quota(root, changed, overlays, found)
    if found.failed():
        return refused(found, root, in_files=False)
    known = [result for result in results if result is not None]
    done = [result for result in known if result.draft.changes]
    if not dry_run:
        replace_files(root, {result.file: result.raw for result in done})
    notes = [note for result in known for note in result.draft.notes]
    return Result(output=Report(tuple(found), (), _summary(done, len(jobs), notes, dry_run=dry_run), root=root))


def _edit(root: Path, job: JobFile, edit: Edit, overlays: Sequence[Overlay], found: Findings) -> _EditedFile | None:
    """One file with its changes; None if it cannot be read."""
    source = read(root, job.file, found)
    if source is None:
        return None
    draft = edit(job, source, found)
    # the reader drops a byte order mark
    mark = _BOM if hashlib.sha256(source.text.encode()).hexdigest() != source.digest else b""
    raw = mark + draft.text.encode()
    new = source_of(raw, job.file, found)
    if new is not None:
        found.extend(in_old_file(caused_errors(source, new, job, overlays), source, new, draft.routes))
    return _EditedFile(job.file, raw, draft)


def caused_errors(old: Source, new: Source, job: JobFile, overlays: Sequence[Overlay]) -> list[Diagnostic]:
    """Errors of the new text that the old one did not have, so that a file can be corrected step by step."""
    errors = _errors(new, job, overlays)
    known = {(item.code, item.message) for item in _errors(old, job, overlays)} if errors else set()
    return [item for item in errors if (item.code, item.message) not in known]


def _errors(source: Source, job: JobFile, overlays: Sequence[Overlay]) -> list[Diagnostic]:
    return [item for item in job_findings(source, job, overlays) if item.is_error]


def _description(source: Source, change: Change) -> str:
    name = printable(dotted(change.route, clipped))
    if change.value is None:
        return f"{name} removed"
    old, new = follow(source.data, change.route), printable(flow(change.value))
    if change.append:
        return f"{name} gets {new}"
    return f"{name} {printable(flow(old))} → {new}" if old else f"{name} set to {new}"


def printable(text: str) -> str:
    """Text of a file, without characters that control a terminal."""
    return clipped("".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)) or '""'


def _summary(done: Sequence[_EditedFile], jobs: int, notes: Sequence[str], *, dry_run: bool) -> str:
    files = counted(jobs, "job file")
    listed = list(dict.fromkeys(notes))[:MAX_LISTED_FILES]
    if not done:
        unchanged = f"no changes: {files} {'is' if jobs == 1 else 'are'} already up to date"
        return "\n".join([*listed, unchanged])
    lines = [f"{result.file}: {', '.join(result.draft.changes)}" for result in done[:MAX_LISTED_FILES]]
    lines += [f"… and {len(done) - MAX_LISTED_FILES} more"] if len(done) > MAX_LISTED_FILES else []
    end = "run `gen render` and commit the result" if not dry_run else "nothing was written"
    verb = "would change" if dry_run else "changed"
    return "\n".join([*lines, *listed, f"{verb} {len(done)} of {files}; {end}"])


_MOST_NAMED = 3


def _values_of_sweeps(ctx: typer.Context, incomplete: str) -> list[str]:
    """`PARAM=VALUE` of the sweeps of the given jobs."""
    offered: list[str] = []
    with suppress(UsageError):
        root = repository(None)
        for job in chosen_jobs(root, [str(one) for one in ctx.params.get("jobs") or ctx.args], Findings()):
            source = read(root, job.file, Findings())
            pairs = as_mapping(at(source.data, "sweep", "matrix") if source is not None else None).items()
            offered += [f"{name}={value}" for name, values in pairs for value in values or () if isinstance(value, str)]
    return [one for one in dict.fromkeys(offered) if one.startswith(incomplete) and one.isprintable()]


class Request(Struct, frozen=True, kw_only=True):
    jobs: Annotated[
        tuple[str, ...],
        typer.Argument(help="Job files, names or patterns.", metavar="JOB", autocompletion=complete_jobs),
    ]
    when: Annotated[
        tuple[str, ...],
        typer.Option(
            "--when",
            metavar="PARAM=VALUE",
            help="Only runs of the sweep with this value; may be repeated.",
            autocompletion=_values_of_sweeps,
        ),
    ] = ()
    dry_run: DryRun = False
    root: Root = None


def apply(name: str, request: Request, *, resume: bool = False) -> Result[Report]:
    """Edit the files of the jobs, or none if one would become invalid. With `resume`, runs continue from their last."""
    from gen.live.desired import desired_runs

    root, listed = repository(request.root), Findings()
    if not request.jobs:
        raise UsageError(f"no job: pass its name, such as `gen {name} mnist`; `gen list` has the names")
    when, jobs = parse_when(request.when), chosen_jobs(root, request.jobs, listed)
    overlays = OverlayReader(root, Findings()).read()
    runs = desired_runs(root, [overlay.name for overlay in overlays], frozenset(jobs))
    edit = _Edit(VERBS[name], when, runs, overlays, LastRuns(root, runs) if resume else None)
    return change_files(root, jobs, edit, listed, dry_run=request.dry_run)


class _Edit(Struct, frozen=True):
    verb: Verb
    when: When
    runs: Sequence[DesiredRun]
    overlays: Sequence[Overlay]
    last: LastRuns | None

    def __call__(self, job: JobFile, source: Source, found: Findings) -> Draft:
        change = runs_change(self.verb, source.data, self.when)
        runs = [run for run in self.runs if run.source == job and self.when.items() <= _values(run).items()]
        draft = Draft(text=source.text)
        for one in change.changes:
            draft = draft.with_change(source, one, found)
        if change.overrides:
            draft = _overridden(draft, source, change.overrides, found)
        if self.last is not None:
            draft = self.last.continued(draft, job, source, self.when, found)
        if not change.changes_anything:
            note = f"{job.key} is already {change.state}; {self.verb.instead}"
        else:
            note = f"{job.key}: {self._effect(runs, change, source, job)}"
            if self.verb.name == "finish":
                _report_running(job, source, runs, found)
        return Draft(text=draft.text, changes=draft.changes, routes=draft.routes, notes=(note,))

    def _effect(self, runs: Sequence[DesiredRun], change: RunsChange, source: Source, job: JobFile) -> str:
        """What happens in the clusters after the merge, and when."""
        before = [run for run in runs if run.state not in RECORDS and (run.state != self.verb.state or self.verb.again)]
        who, time = self._engines(job, source)
        stops = all(run.resource.suspend_stops for run in before)
        notice = f"pods have {_grace(before)} s to end after SIGTERM"
        if self.verb.name == "stop":
            gone = f"{who} deletes {_named(before)} {time}, and its {notice}"
            return f"{gone}; its record stays in rendered/, and data stay in their volumes"
        if self.verb.name == "suspend" and stops:
            return f"{who} suspends {_named(before)} {time}, and its {notice}; `gen resume` starts them again"
        if self.verb.name == "suspend":
            return f"{who} suspends {_named(before)} {time}: what runs goes on, and nothing more starts"
        if self.verb.name == "resume":
            waiting = [run for run in runs if run.state == "suspended"]
            again = "lets the operator start the pods of" if waiting else "creates"
            return f"{who} {again} {_named(waiting or runs)} {time}, and its program begins again"
        if self.verb.name == "finish":
            stays = "stays as a record" if len({run.name for run in runs}) == 1 else "stay as records"
            return f"nothing changes in the cluster; {_named(runs)} {stays}, which no engine applies again"
        ends = f", and deletes {_named(before)}" if before else ""
        earlier = "the last run" if self.last is not None else at(source.data, "resume")
        ends += f"; it continues from the checkpoints of {earlier}" if earlier else ""
        return f"{who} starts attempt {change.attempt} {time}{ends}"

    def _engines(self, job: JobFile, source: Source) -> tuple[str, str]:
        own = [one for one in self.overlays if selects(one, job.key, source.data)]
        names = sorted({name for one in own if one.fields.gitops for name in one.fields.gitops.engines} & set(ENGINES))
        if not names:
            return "the GitOps engine", "when it applies the merge"
        minutes = max(ENGINES[name].minutes for name in names)
        return " or ".join(ENGINES[name].title for name in names), f"within {minutes} minutes of the merge"


class LastRuns:
    """The last runs of jobs with checkpoints, at the last commit, or in `rendered/` without Git."""

    def __init__(self, root: Path, runs: Sequence[DesiredRun]) -> None:
        self.runs, self.git = runs, CommittedFiles(root)

    def continued(self, draft: Draft, job: JobFile, source: Source, when: When, found: Findings) -> Draft:
        """The file with `resume` for the job, or for each run of its sweep."""
        by_values = self._names(job)
        swept = isinstance(at(source.data, "sweep"), dict)
        known = {text: names for text, names in by_values.items() if when.items() <= _parsed(text).items()}
        changes, entries, where = list[Change](), list[Mapping[str, object]](), source.place(("resume",))
        for text, names in known.items():
            if len(names) > 1:
                message = f"the last runs have different names in the overlays of the job: {', '.join(sorted(names))}"
                found.error(CANNOT_EDIT, where, message, "write the one to continue from with `gen set JOB resume=RUN`")
                return draft
            if not swept:
                changes.append(Change(("resume",), next(iter(names))))
                continue
            wanted = {"resume": next(iter(names))}
            more, new = override(parse(draft.text, "", Findings()), _parsed(text), wanted)
            changes += more
            entries += new
        if not known:
            message = "no earlier run in Git has a folder for checkpoints"
            hint = "set `checkpoints` to a directory below a path of `data`, so that later runs can continue"
            found.error(CANNOT_EDIT, where, message, hint)
        for change in changes:
            draft = draft.with_change(source, change, found)
        return _overridden(draft, source, entries, found) if entries else draft

    def _names(self, job: JobFile) -> dict[str, set[str]]:
        """Names by the values of a sweep."""
        own = [run for run in self.runs if run.source == job]
        names: dict[str, set[str]] = {}
        for folder in dict.fromkeys(run.path.rpartition("/")[0] for run in own):
            files = self.git.folder("HEAD", folder)
            known = [generated_object(raw, f"{folder}/{name}") for name, raw in sorted(files.items())]
            for one in known:
                if one is not None and workload(one) is not None and saved_by(one)[1]:
                    names.setdefault(one.values, set()).add(saved_by(one)[0])
        return names


def _parsed(values: str) -> dict[str, Any]:
    return as_mapping(json.loads(values) if values else {})


def _overridden(draft: Draft, source: Source, overrides: Sequence[Mapping[str, Any]], found: Findings) -> Draft:
    try:
        text = with_overrides(draft.text, overrides)
    except EditError as error:
        found.error(CANNOT_EDIT, source.place(error.route), error.message, error.hint)
        return draft
    described = []
    for entry in overrides:
        values = ", ".join(f"{name}={value}" for name, value in entry["when"].items())
        fields = [f"{name} set to {value}" for name, value in entry.items() if name != "when"]
        described.append(f"{' and '.join(fields)} for {values}")
    routes = (*draft.routes, ("sweep", "overrides"))
    return Draft(text=text, changes=(*draft.changes, *described), routes=routes)


def _report_running(job: JobFile, source: Source, runs: Sequence[DesiredRun], found: Findings) -> None:
    """Warn about runs that Git still has as active: only a cluster knows whether they have ended."""
    active = [run for run in runs if run.state == "active"]
    if active:
        message = f"{_named(active)} may still be running, and `gen finish` stops nothing"
        hint = f"to end it, run `gen stop {job.key}`; `gen retire` finishes runs that have ended in the clusters"
        found.warning(MAY_STILL_RUN, source.place(("state",)), message, hint)


def _named(runs: Sequence[DesiredRun]) -> str:
    names = list(dict.fromkeys(f"`{run.name}`" for run in runs))
    return ", ".join(names) if 0 < len(names) <= _MOST_NAMED else f"its {len(names)} runs" if names else "its run"


def _grace(runs: Sequence[DesiredRun]) -> int:
    times = [
        template.get("spec", {}).get("terminationGracePeriodSeconds", GRACE_PERIOD_S)
        for run in runs
        for _, template in templates_by_shape(run.body)
    ]
    return max((time for time in times if isinstance(time, int)), default=GRACE_PERIOD_S)


def _values(run: DesiredRun) -> dict[str, Any]:
    return _parsed(run.values)
