"""Phrases of a plan. They contain words and numbers, and no text from job files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.report.templates import Phrase
from gen.review.data import DataAction
from gen.review.runs import Action, State
from gen.review.types import Change
from gen.review.usage import Load

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator

    from gen.review.demand import Demand
    from gen.review.runs import Run
    from gen.review.types import Review

RUN_SECTIONS = {
    Action.REPLACED: "runs that replace the previous run of their job",
    Action.STARTED: "runs that start",
    Action.STOPPED: "runs that stop",
    Action.RESUMED: "runs that resume",
    Action.SUSPENDED: "suspended runs",
    Action.RETIRED: "retired runs, kept as records: GitOps engines neither start nor stop them",
    Action.REOPENED: "reopened runs, recreated if they no longer exist in the cluster",
    Action.EDITED: "runs edited in place, without a new name",
    Action.ADDED: "new runs that do not start",
    Action.REMOVED: "removed runs that were not active",
}
"""Titles of the lists of runs, the most important one first."""


def headline(review: Review) -> Phrase:
    removed = sum(item.action is DataAction.REMOVED for item in review.data)
    data = f"{removed} data objects removed" if removed != 1 else "1 data object removed"
    return Phrase(f"{_runs(review.starting, 'start')}, {_runs(review.stopping, 'stop')}, {data}")


def summary(review: Review) -> Iterator[tuple[Phrase, Phrase]]:
    """Title and text of each row of the summary."""
    rows = {
        "Runs": _run_summary(review),
        "GPUs": _gpu_summary(review),
        "TensorBoards": _counted(review.boards, Change, skip=(Change.MOVED, Change.REPLACED)),
        "Data": _data_summary(review),
        "Objects": f"{review.before} → {review.after}: " + _counted(review.changes, Change, skip=(Change.KEPT,)),
    }
    return ((Phrase(title), Phrase(text)) for title, text in rows.items())


def _run_summary(review: Review) -> str:
    replaced = review.actions[Action.REPLACED]
    parts = [f"{len(review.starting)} start", f"{len(review.stopping)} stop", f"{review.kept} kept"]
    if replaced:
        parts.append(f"{replaced} replaced by a new run of the same job")
    others = (Action.RETIRED, Action.SUSPENDED, Action.RESUMED, Action.REOPENED, Action.EDITED)
    parts += [f"{review.actions[action]} {action.value}" for action in others if review.actions[action]]
    return ", ".join(parts)


def _gpu_summary(review: Review) -> str:
    before, after = (sum(load.gpus for load in loads) for loads in _sides(review))
    asked = Load()
    for run in review.starting:
        asked += demand_of(run)
    return f"{before} → {after}" + (f"; starting runs request {_load_phrase(asked)}" if review.starting else "")


def _sides(review: Review) -> tuple[list[Load], list[Load]]:
    return [row.before for row in review.usage], [row.after for row in review.usage]


def _load_phrase(load: Load) -> str:
    parts = [_gpus(load.gpus)]
    if load.gpu_hours:
        parts.append(f"at most {number(load.gpu_hours)} GPU-hours")
    if load.unbounded:
        parts.append(f"{load.unbounded} run{'' if load.unbounded == 1 else 's'} without a time limit")
    return ", ".join(parts)


def _gpus(count: int) -> str:
    return f"{count} GPU{'' if count == 1 else 's'}"


def demand_phrase(demand: Demand) -> Phrase:
    """`3 pods, 24 GPUs, at most 288 GPU-hours`."""
    parts = [f"{demand.pods} pod{'' if demand.pods == 1 else 's'}", _gpus(demand.gpus)]
    if demand.gpus:
        hours = demand.gpu_hours
        parts.append("without a time limit" if hours is None else f"at most {number(hours)} GPU-hours")
    return Phrase(", ".join(parts))


def hours_phrase(load: Load) -> str:
    """Maximum GPU-hours."""
    if load.unbounded:
        return "unbounded"
    return number(load.gpu_hours)


def number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _data_summary(review: Review) -> str:
    shown = (DataAction.ADDED, DataAction.CHANGED, DataAction.REMOVED, DataAction.KEPT)
    counts = {action: sum(item.action is action for item in review.data) for action in shown}
    return ", ".join(f"{count} {action.value}" for action, count in counts.items())


def _counted(counts: Counter[Change], every: Iterable[Change], skip: tuple[Change, ...]) -> str:
    return ", ".join(f"{counts[change]} {change.value}" for change in every if change not in skip)


def _runs(runs: tuple[Run, ...], verb: str) -> str:
    return f"{len(runs)} run {verb}s" if len(runs) == 1 else f"{len(runs)} runs {verb}"


def demand_of(run: Run) -> Demand:
    """Demand of the run after the merge, or before it if the merge removes the run."""
    side = run.after or run.before
    assert side is not None  # noqa: S101 - a run exists before or after
    return side.demand


def state_phrase(run: Run) -> Phrase:
    """State of a run that is not active. Empty when its section already names the state."""
    side = run.after or run.before
    if side is None or run.action in (Action.RETIRED, Action.SUSPENDED):
        return Phrase("")
    return Phrase("" if side.state is State.ACTIVE else side.state.value)
