"""Changes of fields: their names on the command line, their effect on the data of a file, and verbs for the life of a
job.

A name is a route with dots, such as `env.A`, `args.0`, `data.ckpt.readOnly` or `steps.train.env.DEBUG`. A dot can also
be part of a key, as in `labels.example.com/team`; the models decide which. A verb changes `state` and `attempt`, for
the job or for runs of its sweep.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gen.base import Findings, Route, UsageError, at, did_you_mean, dotted
from gen.base.engines import RECORDS, STATES, JobState
from gen.base.yaml.strict import Data, parse
from gen.base.yaml.user_text import with_additions
from gen.job.fields import JobFields
from gen.job.kinds import ALL_KINDS
from gen.job.kinds.pipeline import Order
from gen.job.model import Form, fields_at, form_at
from gen.job.scalars import clipped, empty, shown, visible

if TYPE_CHECKING:
    from pydantic import BaseModel


class Change(Struct, frozen=True):
    """A new value for the field at `route`; None removes the field."""

    route: Route
    value: Data | None
    append: bool = False
    """Whether it is one more entry of the list at `route`."""


class EditError(Exception):
    """A change that is impossible, with message, hint, and the existing part of the route."""

    def __init__(self, message: str, hint: str, route: Route) -> None:
        super().__init__(message)
        self.message, self.hint, self.route = message, hint, route


def changed(data: Data | None, change: Change, depth: int = 0) -> Data:
    """The changed data, or the same object if it has the value already. EditError if the change is impossible."""
    if depth == len(change.route):
        assert change.value is not None  # removing ends one step above
        if change.append:
            return [*data, change.value] if isinstance(data, list) else [change.value]
        return data if data is not None and data == change.value and not empty(data) else change.value
    step = change.route[depth]
    if isinstance(data, list) and isinstance(step, int):
        return _in_list(data, change, depth)
    if isinstance(step, str) and (data is None or isinstance(data, dict) or empty(data)):
        return _in_mapping(data, change, depth)
    at, name = change.route[:depth], dotted(change.route[:depth], clipped)
    if data is None:
        raise EditError(f"`{name}` does not exist", "edit the file to add a list", at)
    if isinstance(data, list):
        raise EditError(f"`{name}` is a list", f"use the index of an entry, such as `{name}.0`", at)
    remedy = f"remove it in the same command with `--unset {name}`"
    raise EditError(f"`{name}` is {shown(data)} and has no fields", remedy, at)


def _in_mapping(data: Data | None, change: Change, depth: int) -> Data:
    mapping = data if isinstance(data, dict) else {}
    step = str(change.route[depth])
    if change.value is None and step not in mapping:
        return mapping if data is None else data
    if change.value is None and depth + 1 == len(change.route):
        return {key: value for key, value in mapping.items() if key != step}
    inner = changed(mapping.get(step), change, depth + 1)
    return mapping if step in mapping and inner is mapping[step] else mapping | {step: inner}


def _in_list(data: list[Data], change: Change, depth: int) -> Data:
    step = change.route[depth]
    at, name = change.route[:depth], dotted(change.route[:depth], clipped)
    if not isinstance(step, int) or step >= len(data):
        raise EditError(f"`{name}` has only {len(data)} entries", f"add one with `{name}+=VALUE`", at)
    if change.value is None and depth + 1 == len(change.route):
        raise EditError("entries of a list cannot be removed", "edit the file", at)
    inner = changed(data[step], change, depth + 1)
    return data if inner is data[step] else [*data[:step], inner, *data[step + 1 :]]


_ROUTE: Route = ("sweep", "overrides")


def unfinished(data: object) -> list[Mapping[str, str]]:
    """`when` of the entries that keep runs from being finished with their job."""
    sweep = data.get("sweep") if isinstance(data, dict) else None
    entries = sweep.get("overrides") if isinstance(sweep, dict) else None
    known = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    others = (entry.get("when") for entry in known if entry.get("state", "finished") != "finished")
    return [when for when in others if isinstance(when, dict)]


def with_finished(text: str, runs: Sequence[Mapping[str, str]]) -> str:
    """The text with `state: finished` for the runs of its sweep with these values. EditError if that is impossible."""
    return with_overrides(text, [{"when": dict(values), "state": "finished"} for values in runs])


def with_overrides(text: str, entries: Sequence[Mapping[str, object]]) -> str:
    """The text with more `overrides` of its sweep. EditError if that is impossible."""
    before: Any = parse(text, "", Findings())
    sweep = before.get("sweep") if isinstance(before, dict) else None
    known = sweep.get("overrides", []) if isinstance(sweep, dict) else None
    if not isinstance(sweep, dict) or not isinstance(known, list):
        raise EditError("the file has no sweep to which entries can be added", "edit the file", _ROUTE[:1])
    try:
        new = with_additions(text, {"sweep": {"overrides": list(entries)}})
    except Exception as error:  # ruamel.yaml may raise anything for text that gen can read
        raise EditError("this file cannot be edited safely", "edit the file", _ROUTE[:1]) from error
    wanted = {**before, "sweep": {**sweep, "overrides": [*known, *entries]}}
    if parse(new, "", Findings()) != wanted:
        raise EditError("this sweep is written in a form that cannot be edited safely", "edit the file", _ROUTE[:1])
    return new


def route_of(model: type[BaseModel], name: str) -> Route:
    """The route to a field. UsageError for a name with an empty part. The model rejects unknown fields."""
    route: Route = ()
    rest = name
    while True:
        step, rest = _next(model, route, rest)
        if step == "":
            raise UsageError(f"`{name}` is not a valid field name; use a form like `attempt`, `env.DEBUG` or `args.0`")
        route += (step,)
        if not rest:
            return route


def _next(model: type[BaseModel], route: Route, name: str) -> tuple[str | int, str]:
    """The first step of a name relative to `route`, and the rest of the name."""
    head, dot, rest = name.partition(".")
    form = form_at(model, route)
    if form is Form.LIST and head.isascii() and head.isdigit():
        return int(head), rest
    if form is Form.KEYS:
        inner = fields_at(model, (*route, head))
        if not inner or rest.split(".")[0] not in inner:
            return name, ""
    if dot and not rest:
        return "", ""
    return head, rest


_STEPS = "steps"


class NamedField(Struct, frozen=True, kw_only=True):
    """The field with a name."""

    model: type[BaseModel]
    """The model that has the field."""
    outer: Route
    """Route of that model in the file; empty for the job."""
    inner: Route
    """Route of the field in that model."""

    @property
    def route(self) -> Route:
        return (*self.outer, *self.inner)


def field_named(data: object, new: Mapping[str, str | None], name: str) -> NamedField:
    """The field of a job file that a name is about; `new` has the values that are set at the same time."""
    model = _of_kind(at(data, "kind"), new.get("kind"))
    start, _, rest = name.partition(".")
    step, _, field = rest.partition(".")
    if start != _STEPS or _STEPS not in fields_at(model, ()) or not field:
        return NamedField(model=model, outer=(), inner=route_of(model, name))
    if field.partition(".")[0] in fields_at(Order, ()):
        return NamedField(model=Order, outer=(_STEPS, step), inner=route_of(Order, field))
    kind = at(data, _STEPS, step, "kind")
    own = _of_kind(kind, new.get(f"{_STEPS}.{step}.kind"))
    return NamedField(model=own, outer=(_STEPS, step), inner=route_of(own, field))


def _of_kind(written: object, new: str | None) -> type[JobFields]:
    kind = new or written
    return ALL_KINDS.get(kind, JobFields) if isinstance(kind, str) else JobFields


When = Mapping[str, str]
"""Values that the runs of a sweep have; empty for all runs of a job."""


class Verb(Struct, frozen=True, kw_only=True):
    """A change of the state of runs."""

    name: str
    state: JobState
    """The state that it gives."""
    of: frozenset[JobState]
    """States that it changes."""
    again: bool = False
    """Whether it is the next attempt."""
    instead: str
    """What to do about runs in other states."""


VERBS: Final = {
    verb.name: verb
    for verb in (
        Verb(
            name="stop", state="stopped", of=frozenset(STATES) - {"stopped"}, instead="a stopped run needs nothing more"
        ),
        Verb(name="suspend", state="suspended", of=frozenset({"active"}), instead="only active runs can be suspended"),
        Verb(
            name="resume",
            state="active",
            of=frozenset({"suspended", "stopped"}),
            instead="`gen rerun` starts the next attempt",
        ),
        Verb(
            name="finish",
            state="finished",
            of=frozenset({"active", "suspended"}),
            instead="a record needs nothing more",
        ),
        Verb(name="rerun", state="active", of=frozenset(STATES), again=True, instead=""),
    )
}


class RunsChange(Struct, frozen=True, kw_only=True):
    """Changes of a verb in a file."""

    changes: tuple[Change, ...] = ()
    overrides: tuple[Mapping[str, Any], ...] = ()
    """New entries of `sweep.overrides`."""
    state: str
    """The state of the runs before."""
    attempt: int
    """Their attempt after it."""

    @property
    def changes_anything(self) -> bool:
        return bool(self.changes or self.overrides)


def runs_change(verb: Verb, data: object, when: When) -> RunsChange:
    """The change of a job file. UsageError for values that its sweep does not have."""
    return _of_some(verb, data, when) if when else _of_all(verb, data)


def _of_all(verb: Verb, data: object) -> RunsChange:
    state, attempt = str(at(data, "state") or "active"), _number(at(data, "attempt")) + verb.again
    changes = []
    if state in verb.of and state != verb.state:
        changes.append(Change(("state",), None if verb.state == "active" else verb.state))
    if verb.again:
        changes.append(Change(("attempt",), str(attempt)))
    entries = [(entry.get("state"), entry) for entry in _overrides(data)]
    present = [own for own in (state, *(own for own, _ in entries)) if own in verb.of and own != verb.state]
    # runs of a sweep that ended stay so while a verb for the job changes others: `gen resume` starts no stopped ones
    kept = frozenset() if verb.again or RECORDS.issuperset(present) else RECORDS
    for index, (own, entry) in enumerate(entries):
        route = ("sweep", "overrides", index)
        if own in verb.of - kept and own != verb.state:
            changes.append(Change((*route, "state"), verb.state))
        if verb.again and "attempt" in entry:
            changes.append(Change((*route, "attempt"), str(_number(entry["attempt"]) + 1)))
    return RunsChange(changes=tuple(changes), state=state, attempt=attempt)


def _of_some(verb: Verb, data: object, when: When) -> RunsChange:
    """An entry with the same values changes, unless a later one is about some of the runs, too."""
    _check_values(data, when)
    entries = [(index, entry, _when(entry)) for index, entry in enumerate(_overrides(data))]
    of_all = [entry for _, entry, own in entries if own.items() <= when.items()]
    of_some = [entry for _, entry, own in entries if all(when.get(key, value) == value for key, value in own.items())]
    states = [str(at(data, "state") or "active"), *(str(one["state"]) for one in of_all if "state" in one)]
    attempts = [_number(at(data, "attempt")), *(_number(one["attempt"]) for one in of_some if "attempt" in one)]
    attempt = max(attempts) + verb.again
    wanted = {"attempt": str(attempt)} if verb.again else {}
    others = {str(one["state"]) for one in of_some if "state" in one} - {verb.state}
    if (states[-1] in verb.of and states[-1] != verb.state) or others & verb.of:
        wanted["state"] = verb.state
    if not wanted:
        return RunsChange(state=states[-1], attempt=attempt)
    changes, overrides = override(data, when, wanted)
    return RunsChange(changes=changes, overrides=overrides, state=states[-1], attempt=attempt)


def override(
    data: object, when: When, wanted: Mapping[str, str]
) -> tuple[tuple[Change, ...], tuple[Mapping[str, object], ...]]:
    """Fields of the runs of a sweep that have these values: changes of their last entry, or a new entry."""
    entries = [(index, _when(entry)) for index, entry in enumerate(_overrides(data))]
    some = [(index, own) for index, own in entries if all(when.get(key, value) == value for key, value in own.items())]
    if some and some[-1][1] == when:
        route = ("sweep", "overrides", some[-1][0])
        return tuple(Change((*route, field), value) for field, value in wanted.items()), ()
    return (), ({"when": dict(when), **wanted},)


def _check_values(data: object, when: When) -> None:
    matrix, include = at(data, "sweep", "matrix"), at(data, "sweep", "include")
    known: dict[str, list[str]] = {}
    for name, values in matrix.items() if isinstance(matrix, dict) else ():
        known[str(name)] = [str(value) for value in values] if isinstance(values, list) else []
    for entry in include if isinstance(include, list) else ():
        for name, value in entry.items() if isinstance(entry, dict) else ():
            known.setdefault(str(name), []).append(str(value))
    if not known:
        raise UsageError("`--when` chooses runs of a sweep, and the job has no `sweep`")
    for name, value in when.items():
        if name not in known:
            raise UsageError(f"the sweep has no parameter `{visible(clipped(name))}`: {did_you_mean(name, known)}")
        if value not in known[name]:
            shown = visible(clipped(f"{name}={value}"))
            raise UsageError(f"the sweep has no run with `{shown}`: {did_you_mean(value, known[name])}")


def _overrides(data: object) -> Sequence[Mapping[str, object]]:
    entries = at(data, "sweep", "overrides")
    return entries if isinstance(entries, list) and all(isinstance(one, dict) for one in entries) else ()


def _when(entry: Mapping[str, Any]) -> When:
    return entry["when"] if isinstance(entry.get("when"), dict) else {}


def _number(value: object) -> int:
    """A whole number; 1 for anything else, which the model reports."""
    text = str(value)
    return int(text[:9]) if text.isascii() and text.isdecimal() else 1


def parse_when(texts: Sequence[str]) -> When:
    """The values of `--when lr=0.1`, also of several with commas."""
    return dict(_pairs(texts))


def _pairs(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    for text in (part.strip() for one in texts for part in one.split(",")):
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise UsageError(f"`--when {visible(clipped(text))}`: expected PARAMETER=VALUE, such as `--when lr=0.1`")
        yield name, value
