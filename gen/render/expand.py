"""The expand stage: the runs of a job. A job has one run, or one for each combination of its sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct
from msgspec.structs import replace
from pydantic import ValidationError

from gen.diagnostics import Findings, counted
from gen.findings.jobs import NO_EFFECT
from gen.model.annotations import fields_at
from gen.model.base import Model
from gen.model.sweep import Sweep
from gen.render.combinations import combinations, named
from gen.render.job_run import JobRun
from gen.render.parse.job import parse_run
from gen.render.parse.unused_params import used_params
from gen.render.record import NOT_PART_OF_RUN, SCHEDULE, SEARCH, SWEEP
from gen.render.run_names import most_characters, run_name
from gen.render.run_values import RunValues

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gen.diagnostics import Diagnostic
    from gen.load import Data
    from gen.overlay.overlay import Overlay
    from gen.render.combinations import Combination
    from gen.render.job_run import ExpandedStep
    from gen.render.parse.job import JobInput, WrittenJob


class Expanded(Struct, frozen=True, kw_only=True):
    """A run of a job, with the findings about it."""

    name: str
    label: str
    """The values of a run of a sweep, for messages; empty for other runs."""
    run: JobRun | None
    """None if the job cannot be used at all."""
    found: Findings
    steps: tuple[ExpandedStep, ...] = ()
    """Steps of a pipeline."""


class _WithSweep(Model):
    """The part of a job that is validated before its expressions are replaced."""

    sweep: Sweep


def expand(written: WrittenJob, overlay: Overlay, found: Findings) -> tuple[Expanded, ...]:
    """Runs of a job, at least one. After an error in its sweep, one run without the sweep's values."""
    if SWEEP not in written.data or SEARCH in written.data:  # together, they are reported later
        return (_expanded(written, None),)
    known = _combinations(written, overlay, found)
    if not known:
        return (_expanded(written, without_values(written)),)
    roles = {*fields_at(written.model, ("roles",)), *_keys(written.data.get("roles"))}
    hashed = overlay.fields.runs.naming != "stable" or bool(written.model.own_fields)
    scheduled = SCHEDULE in written.data
    most = most_characters(written.model.facts, sorted(roles), hashed=hashed, scheduled=scheduled)
    if written.model.own_fields:
        from gen.render.steps.runs import most_for_steps  # noqa: PLC0415 - most jobs have no steps

        most = min(most, most_for_steps(written.data.get("steps"), scheduled=scheduled))
    return tuple(_expanded(written, _own(written.name, one, most)) for one in known)


def without_values(written: WrittenJob) -> RunValues:
    """A substitute for the runs of a sweep with an error: the error of each value is already reported."""
    return RunValues(name=written.name, params=dict.fromkeys(_keys(written.data[SWEEP])))


def _expanded(written: WrittenJob, own: RunValues | None) -> Expanded:
    found = Findings()
    given = parse_run(written, found, own)
    name = own.name if own is not None else given.name if given is not None else written.name
    label = named((key, value) for key, value in own.params.items() if value is not None) if own is not None else ""
    if given is not None and given.job.own_fields:
        return _pipeline(written, given, name, label, found)
    run = JobRun(given=given, name=name) if given is not None else None
    return Expanded(name=name, label=label, run=run, found=found)


def _pipeline(written: WrittenJob, given: JobInput, name: str, label: str, found: Findings) -> Expanded:
    from gen.render.steps.runs import step_runs  # noqa: PLC0415 - most jobs have no steps

    steps = step_runs(written, given, name, found)
    values: dict[str, Data] = {step.name: dict(step.run.given.data) for step in steps if step.run is not None}
    run = JobRun(given=replace(given, data={**given.data, "steps": values}), name=name)
    return Expanded(name=name, label=label, run=run, found=found, steps=steps)


def _own(job: str, one: Combination, most: int) -> RunValues:
    return RunValues(name=run_name(job, one.values, most), params=one.values, fields=one.fields, routes=one.routes)


def _combinations(written: WrittenJob, overlay: Overlay, found: Findings) -> Sequence[Combination]:
    """The combinations of a valid sweep; none after an error, or without a grant, which the plan reports."""
    own = Findings()
    known: Sequence[Combination] = ()
    sweep = read_sweep(written, own)
    if sweep is not None:
        grant = overlay.grant(written.namespace)
        known = combinations(sweep, written, grant.sweep_runs, own) if grant is not None else ()
        _check_params(sweep, written, overlay, own)
    found.extend(own.items)
    return () if own.failed() else known


def read_sweep(written: WrittenJob, found: Findings) -> Sweep | None:
    """The sweep of a job that has one; None if it is invalid."""
    try:
        return _WithSweep.model_validate({SWEEP: written.data[SWEEP]}).sweep
    except ValidationError as error:
        from gen.model.explain import explain  # noqa: PLC0415 - most sweeps are valid

        explain(error, _WithSweep, written.layers, found)
        return None


def _check_params(sweep: Sweep, written: WrittenJob, overlay: Overlay, found: Findings) -> None:
    """Each parameter must decide something in each run, and the overlay must not set it to one value."""
    fields = {name: value for name, value in written.data.items() if name not in {*NOT_PART_OF_RUN, SWEEP}}
    places = {key: ("matrix", key) for key in sweep.matrix}
    for index, entry in enumerate(sweep.include):
        places = {key: ("include", index, key) for key in entry} | cast("dict[str, Any]", places)
    used = used_params(fields, places)
    for key, route in places.items():
        place = written.place(SWEEP, *route, key=True)
        if key in overlay.fields.params:
            message = f"overlay `{overlay.name}` sets the parameter `{key}` for all jobs"
            found.error(NO_EFFECT, place, message, f"sweep another parameter, or remove `params.{key}` of the overlay")
        elif key not in used:
            message = f"no expression in a field that decides about runs uses the parameter `{key}`"
            found.error(
                NO_EFFECT, place, message, f"use it, such as in `command`: `{{{{ params.{key} }}}}`; or remove it"
            )


def _keys(value: object) -> list[str]:
    """Keys of a mapping, and of the mappings and lists of mappings in it, which can have any form."""
    if isinstance(value, list):
        return [key for item in value for key in _keys(item)]
    return (
        [str(key) for key in value] + [k for v in value.values() for k in _keys(v)] if isinstance(value, dict) else []
    )


def merge_findings(runs: Iterable[Iterable[Diagnostic]], labels: Sequence[str] = ()) -> Iterator[Diagnostic]:
    """Findings of the runs of one job file; a code is reported for only one of the runs at each place.

    A finding that only some runs of a sweep have names their values, the `labels`.
    """
    by_run = [list(findings) for findings in runs]
    having: dict[tuple[object, str], list[int]] = {}
    for number, findings in enumerate(by_run):
        for key in dict.fromkeys((finding.place, finding.code) for finding in findings):
            having.setdefault(key, []).append(number)
    for number, findings in enumerate(by_run):
        for finding in findings:
            with_it = having[finding.place, finding.code]
            if with_it[0] != number:
                continue
            if len(with_it) == len(by_run) or not labels:
                yield finding
            else:
                others = f" and {counted(len(with_it) - 1, 'other run')}" if len(with_it) > 1 else ""
                hint = f"{finding.hint}; or remove the value from `{SWEEP}`"
                yield replace(finding, message=f"{finding.message} (for {labels[number]}{others})", hint=hint)
