"""Phrases of a plan. They contain words and numbers, and no text from job files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.report.templates import Phrase
from gen.review.data import DataAction
from gen.review.review import ObjectAction
from gen.review.runs import RunAction
from gen.review.usage import Load

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from gen.review.demand import Demand
    from gen.review.review import Review
    from gen.review.runs import RunChange

RUN_SECTIONS = {
    RunAction.REPLACED: "runs that replace the previous run of their job",
    RunAction.STARTED: "runs that start",
    RunAction.STOPPED: "runs that stop",
    RunAction.RESUMED: "runs that resume",
    RunAction.SUSPENDED: "suspended runs",
    RunAction.RETIRED: "retired runs, kept as records: GitOps engines neither start nor stop them",
    RunAction.REOPENED: "reopened runs, recreated if they no longer exist in the cluster",
    RunAction.EDITED: "runs edited in place, without a new name",
    RunAction.ADDED: "new runs that do not start",
    RunAction.REMOVED: "removed runs that were not active",
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
        "TensorBoards": _counted(review.tensorboards, skip=(ObjectAction.MOVED, ObjectAction.REPLACED)),
        "Data": _data_summary(review),
        "Objects": f"{review.before} → {review.after}: " + _counted(review.object_actions, skip=(ObjectAction.KEPT,)),
    }
    return ((Phrase(title), Phrase(text)) for title, text in rows.items())


def _run_summary(review: Review) -> str:
    replaced = review.run_actions[RunAction.REPLACED]
    parts = [f"{len(review.starting)} start", f"{len(review.stopping)} stop", f"{review.kept} kept"]
    if replaced:
        parts.append(f"{replaced} replaced by a new run of the same job")
    others = (RunAction.RETIRED, RunAction.SUSPENDED, RunAction.RESUMED, RunAction.REOPENED, RunAction.EDITED)
    parts += [f"{review.run_actions[action]} {action.value}" for action in others if review.run_actions[action]]
    return ", ".join(parts)


def _gpu_summary(review: Review) -> str:
    before, after = (sum(load.gpus for load in loads) for loads in _sides(review))
    requested = Load()
    for run in review.starting:
        requested += run.latest.demand
    return f"{before} → {after}" + (f"; starting runs request {_load_phrase(requested)}" if review.starting else "")


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


def _counted(counts: Counter[ObjectAction], skip: tuple[ObjectAction, ...]) -> str:
    return ", ".join(f"{counts[action]} {action.value}" for action in ObjectAction if action not in skip)


def _runs(runs: tuple[RunChange, ...], verb: str) -> str:
    return f"{len(runs)} run {verb}s" if len(runs) == 1 else f"{len(runs)} runs {verb}"


def state_phrase(run: RunChange) -> Phrase:
    """State of a run that is not active. Empty when its section already names the state."""
    named = run.latest.active or run.action in (RunAction.RETIRED, RunAction.SUSPENDED)
    return Phrase("" if named else run.latest.state.value)
