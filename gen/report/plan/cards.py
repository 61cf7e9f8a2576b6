"""Runs of a plan as cards of the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gen.diagnostics import counted
from gen.report.plan.cost_phrases import cost_phrase, costs_phrase
from gen.report.plan.phrases import RUN_SECTIONS, number, preempting, state_phrase
from gen.report.plan.run_rows import run_groups, swept_values
from gen.report.templates import Phrase
from gen.review.runs import RunAction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gen.resources.step_demand import StepDemand
    from gen.review.review import Review
    from gen.review.runs import RunChange, RunVersion

_DEEPEST: Final = 8
"""Steps after each other that are indented."""
MAX_KEPT: Final = 1000
"""Kept runs that are listed."""
_TONES: Final = {
    RunAction.STARTED: "start",
    RunAction.RESUMED: "start",
    RunAction.SCHEDULED: "start",
    RunAction.REOPENED: "start",
    RunAction.STOPPED: "stop",
    RunAction.UNSCHEDULED: "stop",
    RunAction.SUSPENDED: "stop",
    RunAction.DEFINED: "start",
    RunAction.UNDEFINED: "stop",
    RunAction.REMOVED: "keep",
    RunAction.ADDED: "keep",
    RunAction.RETIRED: "keep",
    RunAction.KEPT: "keep",
}
"""Colors of actions; that of all others is `change`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A run of a sweep, or a step of a pipeline."""

    name: str
    level: int
    """Steps that end before it starts."""
    kind: str
    note: Phrase
    """What it requests."""
    needs: tuple[str, ...]
    """Steps that it waits for."""
    details: int
    """Number of its details; -1 for a step, whose details are those of the pipeline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A run, or all runs of a sweep that do the same."""

    number: int
    action: Phrase
    tone: Phrase
    overlay: str
    namespace: str
    job: str
    run: str
    """Name of the object, or empty for a sweep."""
    runs: Phrase
    """Number of runs of a sweep, or empty."""
    kind: str
    queue: str
    replaces: str
    state: Phrase
    preempts: str
    pods: int
    gpus: int
    devices: tuple[tuple[str, int], ...]
    """Accelerators with a name."""
    hours: Phrase
    """GPU-hours at most; empty without GPUs."""
    cost: Phrase
    tree: Phrase
    """What the branches are; empty without any."""
    branches: tuple[Branch, ...]
    details: int
    """Number of its details; -1 for a sweep, whose runs have their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardSection:
    """Cards with the same action."""

    name: Phrase
    """For links."""
    title: Phrase
    count: int
    cards: tuple[Card, ...]


def card_sections(review: Review, details: dict[str, int]) -> Iterator[CardSection]:
    """Runs that a merge affects, by their action. `details` has the number of each run's details by its path."""
    by_action: dict[RunAction, list[RunChange]] = {action: [] for action in RUN_SECTIONS}
    for run in review.runs:
        if (action := run.action) in by_action:
            by_action[action].append(run)
    known = 0
    for action, runs in by_action.items():
        if runs:
            groups = run_groups(runs)
            cards = tuple(_card(group, known + index, details) for index, group in enumerate(groups))
            known += len(groups)
            title = RUN_SECTIONS[action]
            yield CardSection(
                name=Phrase(action.value), title=Phrase(title[0].upper() + title[1:]), count=len(runs), cards=cards
            )


def kept_cards(review: Review) -> tuple[Card, ...]:
    """Unchanged runs whose pods may run."""
    kept = [run for run in review.runs if run.action is RunAction.KEPT and run.latest.counts]
    return tuple(_card([run], index, {}) for index, run in enumerate(kept[:MAX_KEPT]))


def _card(runs: Sequence[RunChange], index: int, details: dict[str, int]) -> Card:
    first, versions = runs[0], [run.latest for run in runs]
    alone = len(runs) == 1
    devices: dict[str, int] = {}
    for version in versions:
        for name, count in version.demand.accelerators.items():
            devices[name] = devices.get(name, 0) + count
    return Card(
        number=index,
        action=Phrase(first.action.value),
        tone=Phrase(_TONES.get(first.action, "change")),
        overlay=first.key.scope,
        namespace=first.key.namespace,
        job=first.job,
        run=first.key.name if alone else "",
        runs=Phrase("" if alone else counted(len(runs), "run")),
        kind=first.key.kind,
        queue=first.latest.queue,
        replaces=first.replaces if alone else "",
        state=state_phrase(first),
        preempts=preempting(runs),
        pods=sum(version.demand.pods for version in versions),
        gpus=sum(version.demand.gpus for version in versions),
        devices=tuple(sorted((name, count) for name, count in devices.items() if count)),
        hours=_hours(versions),
        cost=cost_phrase(first.latest) if alone else costs_phrase(versions),
        tree=Phrase("" if alone and not first.latest.steps else "Steps" if alone else "Runs"),
        branches=tuple(map(_step, first.latest.steps)) if alone else tuple(_runs(runs, details)),
        details=details.get(first.pair.object.path, -1) if alone else -1,
    )


def _hours(versions: Iterable[RunVersion]) -> Phrase:
    hours = [version.demand.gpu_hours for version in versions if version.demand.gpus]
    if not hours:
        return Phrase("")
    bounded = [one for one in hours if one is not None]
    return Phrase("no time limit" if len(bounded) < len(hours) else number(sum(bounded)))


def _step(step: StepDemand) -> Branch:
    hours = _phrase(step.demand.pods, step.demand.gpus)
    level = min(step.depth, _DEEPEST)
    return Branch(name=step.name, level=level, kind=step.kind, note=hours, needs=step.needs, details=-1)


def _runs(runs: Iterable[RunChange], details: dict[str, int]) -> Iterator[Branch]:
    named = ((swept_values(run), run) for run in runs)
    for name, run in sorted(named, key=lambda entry: (entry[0], entry[1].key)):
        asked = run.latest.demand
        note = ", ".join(filter(None, (_phrase(asked.pods, asked.gpus), cost_phrase(run.latest))))
        number_of_details = details.get(run.pair.object.path, -1)
        yield Branch(name=name, level=0, kind="", note=Phrase(note), needs=(), details=number_of_details)


def _phrase(pods: int, gpus: int) -> Phrase:
    return Phrase(f"{counted(pods, 'pod')}, {counted(gpus, 'GPU')}")
