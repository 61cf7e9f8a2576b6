"""The rows of runs in a plan, by what a merge does with them. The runs of a sweep that do the same are one row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gen.report.plan.cost_phrases import cost_phrase, costs_phrase
from gen.report.plan.phrases import (
    RUN_SECTIONS,
    demand_phrase,
    preempting,
    state_phrase,
    total_phrase,
    values_of,
)
from gen.report.templates import Phrase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gen.resources.step_demand import StepDemand
    from gen.review.review import Review
    from gen.review.runs import RunAction, RunChange

_DEEPEST = 16
"""Steps after each other that are indented."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A run that starts, stops or changes, or all runs of a sweep that do the same."""

    overlay: str
    name: str
    """`namespace/name`."""
    kind: str
    queue: str
    """Empty without a queue."""
    replaces: str
    """Name of the run that it replaces, or empty."""
    demand: Phrase
    """Pods, GPUs and GPU-hours."""
    cost: Phrase
    """Empty without prices."""
    state: Phrase
    """Empty for an active run."""
    preempts: str
    """PriorityClasses of pods that may stop others after the merge, or empty."""
    values: tuple[str, ...] = ()
    """For the runs of a sweep, which are one row: the values of each. For a pipeline, its steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSection:
    """Runs with the same action."""

    title: Phrase
    runs: tuple[RunView, ...]


def run_sections(review: Review) -> Iterator[RunSection]:
    by_action: dict[RunAction, list[RunChange]] = {action: [] for action in RUN_SECTIONS}
    for run in review.runs:
        if (action := run.action) in by_action:
            by_action[action].append(run)
    for action, runs in by_action.items():
        if runs:
            yield RunSection(title=Phrase(f"{RUN_SECTIONS[action]} ({len(runs)})"), runs=tuple(_rows(runs)))


def _rows(runs: Iterable[RunChange]) -> Iterator[RunView]:
    """One row for each run, and one for all runs of a sweep that do the same."""
    return (_run(row[0]) if len(row) == 1 else _sweep(row) for row in run_groups(runs))


def run_groups(runs: Iterable[RunChange]) -> list[list[RunChange]]:
    """Each run alone, and all runs of a sweep with equal kinds, queues and states together."""
    rows: dict[tuple[object, ...], list[RunChange]] = {}
    for run in runs:
        key, swept = run.key, run.latest.values
        same = (key.scope, key.namespace, run.job, key.kind, run.latest.queue, run.latest.state)
        rows.setdefault(same if swept else (key,), []).append(run)
    return list(rows.values())


def _sweep(runs: Sequence[RunChange]) -> RunView:
    first = runs[0]
    return RunView(
        overlay=first.key.scope,
        name=f"{first.key.namespace}/{first.job}",
        kind=first.key.kind,
        queue=first.latest.queue,
        replaces="",
        demand=total_phrase([run.latest.demand for run in runs]),
        cost=costs_phrase([run.latest for run in runs]),
        state=state_phrase(first),
        preempts=preempting(runs),
        values=tuple(sorted(swept_values(run) for run in runs)),
    )


def swept_values(run: RunChange) -> str:
    """`lr=0.1 seed=2`, or the name of a run whose values cannot be read."""
    values = values_of(run.latest.values)
    return " ".join(f"{name}={value}" for name, value in values.items()) if values else run.key.name


def _run(run: RunChange) -> RunView:
    return RunView(
        overlay=run.key.scope,
        name=f"{run.key.namespace}/{run.key.name}",
        kind=run.key.kind,
        queue=run.latest.queue,
        replaces=run.replaces,
        demand=demand_phrase(run.latest.demand),
        cost=cost_phrase(run.latest),
        state=state_phrase(run),
        preempts=preempting([run]),
        values=tuple(map(_step, run.latest.steps)),
    )


def _step(step: StepDemand) -> str:
    """Indented by the steps that it waits for."""
    return f"{'  ' * min(step.depth, _DEEPEST)}{step.name}: {step.kind}, {demand_phrase(step.demand)}"
