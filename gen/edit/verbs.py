"""Verbs for the life of a job: changes of `state` and `attempt`, for the job or for runs of its sweep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from gen.base import UsageError, at, did_you_mean
from gen.edit.change import Change
from gen.job.scalars import clipped, visible

_STATES: Final = frozenset({"active", "suspended", "stopped", "finished"})
When = Mapping[str, str]
"""Values that the runs of a sweep have; empty for all runs of a job."""


class Verb(Struct, frozen=True, kw_only=True):
    """A change of the state of runs."""

    name: str
    state: str
    """The state that it gives."""
    of: frozenset[str]
    """States that it changes."""
    again: bool = False
    """Whether it is the next attempt."""
    instead: str
    """What to do about runs in other states."""


VERBS: Final = {
    verb.name: verb
    for verb in (
        Verb(
            name="stop",
            state="stopped",
            of=_STATES - {"stopped"},
            instead="a stopped run needs nothing more",
        ),
        Verb(
            name="suspend",
            state="suspended",
            of=frozenset({"active"}),
            instead="only active runs can be suspended",
        ),
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
        Verb(name="rerun", state="active", of=_STATES, again=True, instead=""),
    )
}


class RunsChange(Struct, frozen=True, kw_only=True):
    """What a verb changes in a file."""

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
    for index, entry in enumerate(_overrides(data)):
        own, route = entry.get("state"), ("sweep", "overrides", index)
        if own in verb.of and own != verb.state:
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
) -> tuple[tuple[Change, ...], tuple[Mapping[str, Any], ...]]:
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


def _overrides(data: object) -> Sequence[Mapping[str, Any]]:
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
