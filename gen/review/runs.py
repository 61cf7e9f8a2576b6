"""What happens to runs: which start, stop, stay, and which are taken out of the engines' hands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from gen.diagnostics import Location
from gen.kubernetes import QUEUE_LABEL, at
from gen.review.demand import Demand, demand
from gen.review.matching import Pair, workload

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.diagnostics import Findings
    from gen.kubernetes import Body
    from gen.overlay.overlay import Overlay
    from gen.review.rendered_object import Item, Key


class State(StrEnum):
    ACTIVE = "active"
    SUSPENDED = "suspended"
    FINISHED = "finished"


class Action(StrEnum):
    """What merging does to a run."""

    STARTED = "started"
    REPLACED = "replaced"
    """A new run takes the place of the job's last one."""
    STOPPED = "stopped"
    SUSPENDED = "suspended"
    RESUMED = "resumed"
    RETIRED = "retired"
    """From now on a record in Git: nothing applies it, creates it again or stops it."""
    REOPENED = "reopened"
    """It was a record; now an engine creates it where it is gone, and it runs again."""
    EDITED = "edited"
    """Other content under the same name, which a cluster refuses or half takes."""
    ADDED = "added"
    """New, but suspended or finished: nothing runs."""
    REMOVED = "removed"
    """Gone, but it was suspended or finished: nothing ran."""
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class Side:
    """A run as one of the trees has it."""

    name: str
    state: State
    demand: Demand
    queue: str

    @property
    def active(self) -> bool:
        return self.state is State.ACTIVE


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a job, or two of which one follows the other."""

    pair: Pair
    job: str
    before: Side | None
    after: Side | None
    edited: bool
    """Whether what it computes changed under its name."""

    @property
    def key(self) -> Key:
        return self.pair.item.key

    @property
    def starts(self) -> bool:
        """Whether something begins to run that did not."""
        new = self.before is None or not self.before.active or self.pair.replaced
        return self.after is not None and self.after.active and new

    @property
    def stops(self) -> bool:
        """Whether an active run ends or waits; a retired one is left alone."""
        if self.before is None or not self.before.active:
            return False
        return self.after is None or self.pair.replaced or self.after.state is State.SUSPENDED

    @property
    def action(self) -> Action:
        before, after = self.before, self.after
        if before is None or after is None:
            return self._one_sided()
        if self.pair.replaced:
            return Action.REPLACED
        if before.state is after.state:
            return Action.EDITED if self.edited and after.state is not State.FINISHED else Action.KEPT
        if before.state is State.SUSPENDED and after.active:
            return Action.RESUMED
        return {State.ACTIVE: Action.REOPENED, State.SUSPENDED: Action.SUSPENDED, State.FINISHED: Action.RETIRED}[
            after.state
        ]

    def _one_sided(self) -> Action:
        if self.before is None:
            return Action.STARTED if self.starts else Action.ADDED
        return Action.STOPPED if self.stops else Action.REMOVED


def runs_of(pairs: Iterable[Pair], overlays: Mapping[str, Overlay], found: Findings) -> tuple[Run, ...]:
    """The runs among the objects, and findings for what a cluster would not follow."""
    runs = tuple(_run(pair, overlays, found) for pair in pairs if pair.workload is not None)
    for run in runs:
        _judge(run, found)
    return runs


def _run(pair: Pair, overlays: Mapping[str, Overlay], found: Findings) -> Run:
    before = None if pair.before is None else _side(pair.before, overlays, found)
    after = before if pair.after is pair.before else None
    if pair.after is not None and after is None:
        after = _side(pair.after, overlays, found)
    return Run(pair, pair.item.job, before, after, edited=_edited(pair))


def _side(item: Item, overlays: Mapping[str, Overlay], found: Findings) -> Side:
    kind = workload(item)
    assert kind is not None  # noqa: S101 - asked for runs only
    overlay = overlays.get(item.key.scope)
    resource = overlay.fields.gpu.resource if overlay is not None else None
    state = State.FINISHED if _finished(item) else State.ACTIVE
    if state is State.ACTIVE and kind.suspend is not None and at(item.outline, *kind.suspend) is True:
        state = State.SUSPENDED
    return Side(item.key.name, state, demand(item, kind, resource, found), item.label(QUEUE_LABEL))


def _finished(item: Item) -> bool:
    skipped = item.annotation("argocd.argoproj.io/hook") == "Skip"
    return skipped or item.annotation("kustomize.toolkit.fluxcd.io/ssa") == "Ignore"


def _edited(pair: Pair) -> bool:
    before, after = pair.before, pair.after
    if before is None or after is None or before is after or pair.replaced:
        return False
    return _content(before) != _content(after)


def _content(item: Item) -> Body:
    """What is computed: all but metadata, and whether it is suspended."""
    kind = workload(item)
    content = {key: value for key, value in item.body.items() if key != "metadata"}
    return content if kind is None or kind.suspend is None else _without(content, kind.suspend)


def _without(body: Body, route: tuple[str, ...]) -> Body:
    step, *rest = route
    inner = body.get(step)
    kept = {key: value for key, value in body.items() if key != step}
    return {**kept, step: _without(inner, tuple(rest))} if rest and isinstance(inner, dict) else kept


def _judge(run: Run, found: Findings) -> None:
    place = Location(run.pair.item.path)
    if run.edited and run.after is not None and run.after.state is not State.FINISHED:
        message = f"{run.key.object} changed under its name: a cluster refuses that, or takes half of it"
        if run.pair.item.run and run.pair.item.run in run.key.name:
            hint = "run `gen render`, which names the run anew"
            found.error("run-edited", place, message, hint)
        else:
            hint = "delete the object in the cluster so that it is created anew, or leave out `runs: {naming: stable}`"
            found.warning("run-edited", place, message, hint)
    if run.pair.replaced and run.after is not None and run.after.state is State.FINISHED and run.stops:
        message = f"{run.key.object} is a record of a run that never ran, and it replaces one that may be running"
        found.warning("never-ran", place, message, "finish a job and edit it in two pull requests")
