"""What `stop`, `rerun`, `suspend`, `resume` and `finish` have in common: an edit of job files, and its effect in a
sentence for each job.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gen.base import Findings, UsageError, at
from gen.base.codes.jobs import CANNOT_EDIT
from gen.base.codes.rendered import MAY_STILL_RUN
from gen.base.engines import ENGINES, RECORDS
from gen.base.repository.git import CommittedFiles
from gen.base.repository.job_files import chosen_jobs
from gen.base.repository.layout import JobFile
from gen.base.yaml.source import Source, read
from gen.base.yaml.strict import parse
from gen.commands.changes import Draft, change_files
from gen.commands.common import DryRun, Result, Root, complete_jobs, repository
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
from gen.kubernetes.facts.pods import templates_by_shape
from gen.overlay.overlay import Overlay, selects
from gen.overlay.read import OverlayReader
from gen.render.rendered_object import generated_object, workload
from gen.report.formats import Report
from gen.review.history import saved_by

if TYPE_CHECKING:
    from gen.live.desired import DesiredRun

_GRACE = 30
"""Seconds of a pod without `terminationGracePeriodSeconds` (`PodSpec` of Kubernetes)."""
_MOST_NAMED = 3


def _values_of_sweeps(ctx: typer.Context, incomplete: str) -> list[str]:
    """`PARAM=VALUE` of the sweeps of the given jobs."""
    offered: list[str] = []
    with suppress(UsageError):
        root = repository(None)
        for job in chosen_jobs(root, [str(one) for one in ctx.params.get("jobs") or ctx.args], Findings()):
            source = read(root, job.file, Findings())
            matrix = at(source.data, "sweep", "matrix") if source is not None else None
            pairs = matrix.items() if isinstance(matrix, dict) else ()
            offered += [f"{name}={value}" for name, values in pairs for value in values or () if isinstance(value, str)]
    return [one for one in dict.fromkeys(offered) if one.startswith(incomplete) and one.isprintable()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
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


@dataclass(frozen=True, slots=True)
class _Edit:
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
            again = "creates" if change.state == "stopped" else "lets the operator start the pods of"
            return f"{who} {again} {_named(runs)} {time}, and its program begins again"
        if self.verb.name == "finish":
            return f"nothing changes in the cluster; {_named(runs)} stays as a record, which no engine applies again"
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
        changes, entries, where = list[Change](), list[Mapping[str, Any]](), source.place(("resume",))
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
    known = json.loads(values) if values else {}
    return known if isinstance(known, dict) else {}


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
        template.get("spec", {}).get("terminationGracePeriodSeconds", _GRACE)
        for run in runs
        for _, template in templates_by_shape(run.body)
    ]
    return max((time for time in times if isinstance(time, int)), default=_GRACE)


def _values(run: DesiredRun) -> dict[str, Any]:
    return _parsed(run.values)
