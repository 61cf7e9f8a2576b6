"""The expand stage: the runs of a job. A job has one run, or one for each combination of its sweep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from gen.base import Diagnostic, Findings, counted, with_other
from gen.base.codes.files import TOO_LARGE
from gen.base.yaml.layers import PARTS
from gen.base.yaml.strict import Data
from gen.job.literal_secrets import report_secrets
from gen.job.model import fields_at
from gen.overlay.overlay import Overlay
from gen.render.emit import SWEEP
from gen.render.job_run import ExpandedRun, JobInput, JobRun, RunValues, WrittenJob
from gen.render.model import parse_run
from gen.render.parts.names import most_characters, run_name
from gen.render.starters import starter_of
from gen.render.sweep import Combination, run_combinations, value_list

MAX_VALUES: Final = 64_000
"""Values of a job in all its runs, roles and steps: the time of a render grows with them."""
MAX_CHARACTERS: Final = 3 << 20
"""Characters of these values. The size of the rendered files, and the time to read the commands, grow with them."""
_OF_PART: Final = 20
"""Values that take as much time as the objects of a part without any. Each part has the other values, too."""


def is_within_limits(written: WrittenJob, runs: int, found: Findings) -> bool:
    """Whether a job is small enough for a number of runs. Reports one that is not."""
    own: list[Data] = [part for field in PARTS if isinstance(part := written.data.get(field), dict | list)]
    parts = max(map(len, own), default=0) or 1
    if len(written.source.text) * runs * parts <= MAX_VALUES:  # as of most jobs: each value has a character
        return True
    common = _size([value for name, value in written.data.items() if name not in {*PARTS, SWEEP}])
    special = _size(own)
    limits = ((MAX_VALUES, "values", _OF_PART if own else 0), (MAX_CHARACTERS, "characters", 0))
    for number, (each, extra, (most, what, more)) in enumerate(zip(common, special, limits, strict=True)):
        total = runs * ((each + more) * parts + extra)
        if total > most:
            where = [counted(runs, "run")] if runs > 1 else []
            where += [f"{parts} roles or steps"] if parts > 1 else []
            times = f" in {' with '.join(where)}" if where else ""
            message = f"the job has {each + extra} {what}{times}, together {total}; the maximum is {most}"
            largest = max(written.data, key=lambda name: _size(written.data[name])[number])
            hint = (
                "each run has its own copy: use fewer runs, roles or steps, or keep long texts and lists, as in "
                f"`{largest}`, in the image, on a volume or in a repository for `code`"
            )
            found.error(TOO_LARGE, written.place(SWEEP if runs > 1 else "kind", key=True), message, hint)
            return False
    return True


def _size(data: Data) -> tuple[int, int]:
    """Values and characters of nested data, with those of keys."""
    if isinstance(data, str):
        return 1, len(data)
    keys = sum(map(len, data)) if isinstance(data, dict) else 0
    inner = [_size(one) for one in (data.values() if isinstance(data, dict) else data)]
    return 1 + sum(values for values, _ in inner), keys + sum(characters for _, characters in inner)


MAX_ERRORS: Final = 1000
"""Errors of the runs of one job, after which its other runs are not read."""


def expand(written: WrittenJob, values: Sequence[RunValues | None]) -> tuple[ExpandedRun, ...]:
    """A run of a job for each of its `values`, until they have `MAX_ERRORS`: none is rendered then."""
    runs: list[ExpandedRun] = []
    left = MAX_ERRORS
    for own in values:
        one = _expanded(written, own)
        runs.append(one)
        left -= sum(finding.is_error for found in (one.found, *(step.found for step in one.steps)) for finding in found)
        if left <= 0:
            break
    return tuple(runs)


def run_values(written: WrittenJob, overlay: Overlay, found: Findings) -> tuple[RunValues | None, ...]:
    """The values of each run of a job: None without a sweep, and no parameters after an error in the sweep."""
    if SWEEP not in written.data or starter_of(written.model, written.data).params(written.data) is not None:
        # a sweep together with values that the starter chooses is reported later
        return (None,)
    known = run_combinations(written, overlay, found)
    # the findings of a run name its values
    hidden = report_secrets({SWEEP: written.data[SWEEP]}, written.layers, found) if known else ()
    if not known or hidden:
        return (without_values(written),)
    roles = {*fields_at(written.model, ("roles",)), *_keys(written.data.get("roles"))}
    hashed = overlay.fields.runs.naming != "stable" or bool(written.model.own_fields)
    starter = starter_of(written.model, written.data)
    most = most_characters(written.model.facts, sorted(roles), starter, hashed=hashed)
    if written.model.own_fields:
        from gen.render.expand_steps import most_for_steps

        most = min(most, most_for_steps(written.data.get("steps"), starter))
    return tuple(_own(written.name, one, most, len(known)) for one in known)


def without_values(written: WrittenJob) -> RunValues:
    """A substitute for the runs of a sweep with an error: the error of each value is already reported."""
    return RunValues(name=written.name, params=dict.fromkeys(_keys(written.data[SWEEP])))


def _expanded(written: WrittenJob, own: RunValues | None) -> ExpandedRun:
    found = Findings()
    given = parse_run(written, found, own)
    name = own.name if own is not None else given.name if given is not None else written.name
    label = (
        value_list((key, value) for key, value in own.params.items() if value is not None) if own is not None else ""
    )
    if given is not None and given.job.own_fields:
        return _pipeline(written, given, name, label, found)
    run = JobRun(given=given, name=name) if given is not None else None
    return ExpandedRun(name=name, label=label, run=run, found=found)


def _pipeline(written: WrittenJob, given: JobInput, name: str, label: str, found: Findings) -> ExpandedRun:
    from gen.render.expand_steps import step_runs

    steps = step_runs(written, given, name, found)
    values: dict[str, Data] = {step.name: dict(step.run.given.data) for step in steps if step.run is not None}
    run = JobRun(given=replace(given, data={**given.data, "steps": values}), name=name)
    return ExpandedRun(name=name, label=label, run=run, found=found, steps=steps)


def _own(job: str, one: Combination, most: int, runs: int) -> RunValues:
    name = run_name(job, one.values, most)
    return RunValues(name=name, params=one.values, fields=one.fields, routes=one.routes, runs=runs)


def _keys(value: object) -> list[str]:
    """Keys of a mapping, and of the mappings and lists of mappings in it, which can have any form."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = map(str, value) if isinstance(value, dict) else ()
    return [*own, *(key for one in inner for key in _keys(one))]


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
                hint = with_other(finding.hint, f"or remove the value from `{SWEEP}`")
                yield replace(finding, message=f"{finding.message} (for {labels[number]}{others})", hint=hint)
