"""The combinations of a sweep: `matrix` without `exclude`, with `include`, and with the overrides of each.

The order of keys, values and entries does not change them. `include` has the semantics of GitHub Actions ("Expanding or
adding matrix configurations"), except that an entry on its own must have a value for each key of `matrix`.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING

from msgspec import Struct

from gen.diagnostics import did_you_mean
from gen.findings.sweeps import INVALID_SWEEP, SWEEP_TOO_LARGE
from gen.model.scalars import clipped, visible
from gen.model.sweep import MAX_COMBINATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gen.diagnostics import Findings, Route
    from gen.model.sweep import Sweep
    from gen.render.parse.job import WrittenJob

Pairs = tuple[tuple[str, str], ...]
"""Names and values of parameters, sorted by name: the identity of a combination."""


class Combination(Struct, frozen=True, kw_only=True):
    """The values of one run, and the fields that the sweep overrides for it."""

    values: Mapping[str, str]
    fields: Mapping[str, str]
    routes: Mapping[str, Route]
    """Where the job sets these fields."""


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


def named(values: Iterable[tuple[str, str]]) -> str:
    """`lr=0.1, seed=2`, for messages."""
    return visible(clipped(", ".join(f"{name}={value}" for name, value in values)))


def _check_values(sweep: Sweep, written: WrittenJob, found: Findings) -> None:
    for key, values in sweep.matrix.items():
        first: dict[str, int] = {}
        for index, value in enumerate(values):
            if first.setdefault(value, index) != index:
                place = written.place("sweep", "matrix", key, index)
                found.error(INVALID_SWEEP, place, f"`{key}` has the value `{named([(key, value)])}` twice", "remove it")
                break


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
            message = f"`exclude` matches no combination: {named(entry.items())}"
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
            message = f"`include` adds nothing: `matrix` has {named(entry.items())}"
            found.error(INVALID_SWEEP, place, message, "remove the entry, or exclude the combination from `matrix`")
        elif fitting:
            for number in fitting:
                extended[number].update(entry)
        elif missing:
            message = f"`include` has no value of `{missing[0]}`, and fits no combination: {named(entry.items())}"
            found.error(INVALID_SWEEP, place, message, f"add `{missing[0]}` to the entry")
        elif (pairs := _pairs(entry)) in alone:
            message = f"`include` has the combination twice: {named(entry.items())}"
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
            message = f"`when` matches no combination: {named(entry.when.items())}"
            found.error(INVALID_SWEEP, written.place(*route, "when"), message, _value_hint(entry.when, every))
        for field, value in (("state", entry.state), ("attempt", entry.attempt)):
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
