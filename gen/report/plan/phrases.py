"""The sentences of a plan, which text and Markdown share. Nothing of a job file is in them but numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

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

SAID = {
    Action.REPLACED: "runs that replace the job's last one",
    Action.STARTED: "runs that start",
    Action.STOPPED: "runs that stop",
    Action.RESUMED: "runs that resume",
    Action.SUSPENDED: "suspended runs",
    Action.RETIRED: "retired runs: records from now on, which nothing stops or starts again",
    Action.REOPENED: "reopened runs, which start anew where they are gone",
    Action.EDITED: "runs that change under their names",
    Action.ADDED: "new runs that do not start",
    Action.REMOVED: "removed runs that were not active",
}
"""What is said of runs, in the order in which it matters to a reviewer."""


def headline(review: Review) -> str:
    removed = sum(item.action is DataAction.REMOVED for item in review.data)
    data = f"{removed} data objects removed" if removed != 1 else "1 data object removed"
    return f"{_runs(review.starting, 'start')}, {_runs(review.stopping, 'stop')}, {data}"


def summary(review: Review) -> Iterator[tuple[str, str]]:
    """What a reviewer asks first, and the answers."""
    yield "Runs", _run_summary(review)
    yield "GPUs", _gpu_summary(review)
    yield "TensorBoards", _counted(review.boards, Change, skip=(Change.MOVED, Change.REPLACED))
    yield "Data", _data_summary(review)
    yield "Objects", f"{review.before} → {review.after}: " + _counted(review.changes, Change, skip=(Change.KEPT,))


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
    return f"{before} → {after}" + (f"; what starts takes {_load_words(asked)}" if review.starting else "")


def _sides(review: Review) -> tuple[list[Load], list[Load]]:
    return [row.before for row in review.usage], [row.after for row in review.usage]


def _load_words(load: Load) -> str:
    parts = [_gpus(load.gpus)]
    if load.gpu_hours:
        parts.append(f"at most {number(load.gpu_hours)} GPU-hours")
    if load.unbounded:
        parts.append(f"{load.unbounded} run{'' if load.unbounded == 1 else 's'} without a time limit")
    return ", ".join(parts)


def _gpus(count: int) -> str:
    return f"{count or 'no'} GPU{'' if count < 2 else 's'}"  # noqa: PLR2004 - the plural


def run_demand(demand: Demand) -> str:
    """`3 pods, 24 GPUs, at most 288 GPU-hours`."""
    parts = [f"{demand.pods} pod{'' if demand.pods == 1 else 's'}", _gpus(demand.gpus)]
    if demand.gpus:
        hours = demand.gpu_hours
        parts.append("without a time limit" if hours is None else f"at most {number(hours)} GPU-hours")
    return ", ".join(parts)


def load_hours(load: Load) -> str:
    """GPU-hours at most."""
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


def sections(review: Review) -> Iterator[tuple[str, list[Run]]]:
    """The runs that something happens to, by what it is, with a title."""
    for action, said in SAID.items():
        runs = [run for run in review.runs if run.action is action]
        if runs:
            yield f"{said} ({len(runs)})", runs


def demand_of(run: Run) -> Demand:
    """What a run asks for, or asked for when it is gone."""
    side = run.after or run.before
    assert side is not None  # noqa: S101 - a run is on one side at least
    return side.demand


def held(run: Run) -> str:
    """Its state when it is not active, unless that is what happens to it."""
    side = run.after or run.before
    if side is None or run.action in (Action.RETIRED, Action.SUSPENDED):
        return ""
    return "" if side.state is State.ACTIVE else side.state.value
