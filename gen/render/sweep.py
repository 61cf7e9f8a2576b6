"""The combinations of a sweep, and checks across its runs: their common TensorBoard, directories that they share.

The order of keys, values and entries does not change the combinations: `matrix` without `exclude`, with `include`, and
with the overrides of each. `include` has the semantics of GitHub Actions ("Expanding or adding matrix configurations"),
except that an entry on its own must have a value for each key of `matrix`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Final

import orjson
from msgspec import Struct
from msgspec.structs import replace
from pydantic import ValidationError

from gen.base import Findings, Route, as_mapping, did_you_mean, near, regex
from gen.base.codes.commands import EQUAL_VALUES
from gen.base.codes.jobs import INVALID_SWEEP, NO_EFFECT, SWEEP_TOO_LARGE
from gen.base.engines import RECORDS
from gen.base.placeholders import RUN
from gen.job.model import Model
from gen.job.plan import Plan
from gen.job.scalars import clipped, visible
from gen.job.search import MAX_COMBINATIONS, Sweep
from gen.kubernetes.check.silence import warn
from gen.overlay.overlay import Overlay
from gen.render.emit import NOT_PART_OF_RUN, SWEEP
from gen.render.job_run import ExpandedRun, JobRun, WrittenJob
from gen.render.parts.data import report_shared
from gen.render.text_mistakes import named_params, used_params

Pairs = tuple[tuple[str, str], ...]
"""Names and values of parameters, sorted by name: the identity of a combination."""


class _WithSweep(Model):
    """The part of a job that is validated before its expressions are replaced."""

    sweep: Sweep


class Combination(Struct, frozen=True, kw_only=True):
    """The values of one run, and the fields that the sweep overrides for it."""

    values: Mapping[str, str]
    fields: Mapping[str, str]
    routes: Mapping[str, Route]
    """Where the job sets these fields."""


def read_sweep(written: WrittenJob, found: Findings) -> Sweep | None:
    """The sweep of a job that has one; None if it is invalid."""
    try:
        return _WithSweep.model_validate({SWEEP: written.data[SWEEP]}).sweep
    except ValidationError as error:
        from gen.job.validation_errors import explain

        explain(error, _WithSweep, written.layers, found)
        return None


def run_combinations(written: WrittenJob, overlay: Overlay, found: Findings) -> Sequence[Combination]:
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


def combinations(sweep: Sweep, written: WrittenJob, limit: int, found: Findings) -> tuple[Combination, ...]:
    """The combinations in the order of their values; none if they are too many. Reports mistakes."""
    count = prod(len(values) for values in sweep.matrix.values())
    if count > MAX_COMBINATIONS:
        message = f"`matrix` has {count} combinations; the maximum is {MAX_COMBINATIONS}"
        found.error(SWEEP_TOO_LARGE, written.place("sweep", "matrix", key=True), message, "remove values")
        return ()
    _check_values(sweep, written, found)
    known = _included(sweep, _excluded(sweep, written, found), written, found)
    most = min(limit, sweep.max or limit)
    if len(known) > most:
        by_job = sweep.max is not None and sweep.max <= limit
        field = "`max` of the sweep" if by_job else f"`namespaces.{written.namespace}.sweepRuns` of the overlay"
        message = f"the sweep has {len(known)} runs; {field} is {most}"
        route = ("sweep", "max") if by_job else ("sweep",)
        hint = "remove values, exclude combinations, or raise " + ("`max`" if by_job else "`sweepRuns`")
        found.error(SWEEP_TOO_LARGE, written.place(*route, key=True), message, hint)
        return ()
    if not known:
        place = written.place("sweep", key=True)
        hint = "remove an entry of `exclude`" if sweep.matrix else "add values to `matrix`, such as `lr: [0.1]`"
        found.error(INVALID_SWEEP, place, "the sweep has no combination", hint)
    return tuple(_overridden(sweep, sorted(known), written, found))


def value_list(values: Iterable[tuple[str, str]]) -> str:
    """`lr=0.1, seed=2`, for messages."""
    return visible(clipped(", ".join(f"{name}={value}" for name, value in values)))


def _check_values(sweep: Sweep, written: WrittenJob, found: Findings) -> None:
    for key, values in sweep.matrix.items():
        first: dict[str, int] = {}
        for index, value in enumerate(values):
            if first.setdefault(value, index) != index:
                place = written.place("sweep", "matrix", key, index)
                found.error(
                    INVALID_SWEEP, place, f"`{key}` has the value `{value_list([(key, value)])}` twice", "remove it"
                )
                break
        else:
            _check_numbers(key, values, written, found)


def _check_numbers(key: str, values: Sequence[str], written: WrittenJob, found: Findings) -> None:
    """Warn about numbers that are the same. A version is not a number."""
    numbers: dict[float, str] = {}
    for index, value in enumerate(values):
        if _NUMBER.fullmatch(value) and "version" not in key.lower():
            other = numbers.setdefault(float(value), value)
            if other != value:
                place = written.place("sweep", "matrix", key, index)
                message = f"`{key}` has the number `{other}` twice, the second time as `{value}`"
                warn(found, written.data.get("annotations"), EQUAL_VALUES, place, message, "remove one of the two")
                return


_NUMBER: Final = regex(r"[+-]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,3})?")


def _excluded(sweep: Sweep, written: WrittenJob, found: Findings) -> list[dict[str, str]]:
    """The combinations of `matrix` that no entry of `exclude` matches."""
    keys = sorted(sweep.matrix)
    every = [
        dict(zip(keys, values, strict=True)) for values in product(*(dict.fromkeys(sweep.matrix[k]) for k in keys))
    ]
    every = every if keys else []
    omitted: set[int] = set()
    for index, entry in enumerate(sweep.exclude):
        matching = _matching(entry, every, ("sweep", "exclude", index), keys, written, found)
        if not matching and entry.keys() <= set(keys):
            message = f"`exclude` matches no combination: {value_list(entry.items())}"
            found.error(INVALID_SWEEP, written.place("sweep", "exclude", index), message, _value_hint(entry, every))
        omitted.update(matching)
    return [values for number, values in enumerate(every) if number not in omitted]


def _included(
    sweep: Sweep, originals: Sequence[Mapping[str, str]], written: WrittenJob, found: Findings
) -> dict[Pairs, None]:
    """The combinations after `include`."""
    extended = [dict(values) for values in originals]
    alone: dict[Pairs, int] = {}
    for index, entry in enumerate(sweep.include):
        place = written.place("sweep", "include", index)
        of_matrix = {key: value for key, value in entry.items() if key in sweep.matrix}
        fitting = [number for number, values in enumerate(originals) if of_matrix.items() <= values.items()]
        missing = sorted(sweep.matrix.keys() - entry.keys())
        if fitting and len(of_matrix) == len(entry):
            message = f"`include` adds nothing: `matrix` has {value_list(entry.items())}"
            found.error(INVALID_SWEEP, place, message, "remove the entry, or exclude the combination from `matrix`")
        elif fitting:
            for number in fitting:
                extended[number].update(entry)
        elif missing:
            message = f"`include` has no value of `{missing[0]}`, and fits no combination: {value_list(entry.items())}"
            found.error(INVALID_SWEEP, place, message, f"add `{missing[0]}` to the entry")
        elif (pairs := _pairs(entry)) in alone:
            message = f"`include` has the combination twice: {value_list(entry.items())}"
            found.error(INVALID_SWEEP, place, message, "remove the entry")
        else:
            alone[pairs] = index
    return dict.fromkeys([*map(_pairs, extended), *alone])


def _overridden(sweep: Sweep, known: Sequence[Pairs], written: WrittenJob, found: Findings) -> Iterator[Combination]:
    every = [dict(pairs) for pairs in known]
    keys = sorted({key for values in every for key in values})
    fields: list[dict[str, str]] = [{} for _ in every]
    routes: list[dict[str, Route]] = [{} for _ in every]
    for index, entry in enumerate(sweep.overrides):
        route: Route = ("sweep", "overrides", index)
        matching = _matching(entry.when, every, (*route, "when"), keys, written, found)
        if every and not matching and entry.when.keys() <= set(keys):
            message = f"`when` matches no combination: {value_list(entry.when.items())}"
            place = written.place(*route, "when")
            if entry.state in RECORDS:  # as `gen retire` writes them, of values that the sweep no longer has
                found.warning(NO_EFFECT, place, message, "remove the entry: the sweep no longer has these runs")
            else:
                found.error(INVALID_SWEEP, place, message, _value_hint(entry.when, every))
        for field, value in (("state", entry.state), ("attempt", entry.attempt), ("resume", entry.resume)):
            for number in matching if value is not None else ():
                fields[number][field], routes[number][field] = str(value), (*route, field)
    for values, own, places in zip(every, fields, routes, strict=True):
        yield Combination(values=values, fields=own, routes=places)


def _matching(
    entry: Mapping[str, str],
    every: Sequence[Mapping[str, str]],
    route: Route,
    keys: Sequence[str],
    written: WrittenJob,
    found: Findings,
) -> list[int]:
    """Indices of the combinations that have the values of an entry. Reports keys that no combination has."""
    for key in entry:
        if key not in keys:
            place = written.place(*route, key, key=True)
            hint = did_you_mean(key, keys, otherwise="add it to `matrix`")
            found.error(INVALID_SWEEP, place, f"the sweep has no parameter `{key}`", hint)
            return []
    return [number for number, values in enumerate(every) if entry.items() <= values.items()]


def _value_hint(entry: Mapping[str, str], every: Iterable[Mapping[str, str]]) -> str:
    """The first value that no combination has, with those that they have."""
    for key, value in entry.items():
        known = {values[key] for values in every if key in values}
        if value not in known:
            return f"remove the entry, or correct `{key}`: {did_you_mean(value, known)}"
    return "remove the entry"


def _pairs(values: Mapping[str, str]) -> Pairs:
    return tuple(sorted(values.items()))


def settle(runs: Sequence[ExpandedRun], plans: Sequence[Plan | None], found: Findings) -> list[Plan | None]:
    """The plans of the runs of a job, with one TensorBoard for all runs. Reports runs that disturb each other."""
    known = [(one, one.run, plan) for one, plan in zip(runs, plans, strict=True) if one.run is not None and plan]
    if not runs[1:] or len(known) < len(runs):
        return list(plans)
    _check_distinct([(one, run) for one, run, _ in known], found)
    _, first, plan = known[0]
    if any(other.tensorboard != plan.tensorboard for _, _, other in known):
        place = first.given.place("tensorboard", "logdir")
        message = "`logdir` differs between the runs of the sweep, and a sweep has one TensorBoard"
        hint = "use `{{ run.id }}` in the path instead of parameters; TensorBoard reads the directory above it"
        found.error(INVALID_SWEEP, place, message, hint)
    _check_outputs([(run, plan) for _, run, plan in known if plan.state == "active"], found)
    return [plan, *(replace(other, tensorboard=None) for _, _, other in known[1:])]


def _check_distinct(runs: Sequence[tuple[ExpandedRun, JobRun]], found: Findings) -> None:
    """Two combinations that give equal runs."""
    first: dict[bytes, ExpandedRun] = {}
    for one, run in runs:
        content = {key: value for key, value in run.given.data.items() if key not in {*NOT_PART_OF_RUN, "params"}}
        text = orjson.dumps(content, option=orjson.OPT_SORT_KEYS).replace(one.name.encode(), b"")
        other = first.setdefault(text, one)
        if other is not one:
            place = run.given.place("sweep", key=True)
            message = f"the runs for {other.label} and {one.label} are equal"
            found.error(INVALID_SWEEP, place, message, "remove one of the values, or use them in different ways")
            return


def _check_outputs(runs: Sequence[tuple[JobRun, Plan]], found: Findings) -> None:
    """Volumes that several runs can write to in the same directory, if no text of the job has the name of the run.

    With `checkpoints`, each run has a folder in which it saves.
    """
    if not runs[1:] or any(RUN.encode() in orjson.dumps(run.given.data) for run, _ in runs):
        return
    run, plan = runs[0]
    if run.given.job.checkpoints is not None:
        return
    report_shared(plan.pods, plan.storage, "runs of the sweep", run.given, found)


def _check_params(sweep: Sweep, written: WrittenJob, overlay: Overlay, found: Findings) -> None:
    """Each parameter must decide something in each run, and the overlay must not set it to one value."""
    fields = {name: value for name, value in written.data.items() if name not in {*NOT_PART_OF_RUN, SWEEP}}
    places: dict[str, Route] = {key: ("matrix", key) for key in sweep.matrix}
    for index, entry in enumerate(sweep.include):
        places = {key: ("include", index, key) for key in entry} | places
    used = used_params(fields, places)
    defined = {*places, *as_mapping(written.data.get("params")), *overlay.fields.params}
    undefined = {name: field for field in fields for name in named_params(fields[field]) - defined}
    for key, route in places.items():
        place = written.place(SWEEP, *route, key=True)
        if key in overlay.fields.params:
            message = f"overlay `{overlay.name}` sets the parameter `{key}` for all jobs"
            found.error(NO_EFFECT, place, message, f"sweep another parameter, or remove `params.{key}` of the overlay")
        elif key not in used:
            message = f"the parameter `{key}` is not used in any field that affects a run"
            hint = f"use it, such as in `command`: `{{{{ params.{key} }}}}`; or remove it"
            if guess := near(key, undefined):
                hint = f"did you mean `{guess}`, which `{undefined[guess]}` uses?"
            found.error(NO_EFFECT, place, message, hint)
