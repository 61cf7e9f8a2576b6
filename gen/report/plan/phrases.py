"""Phrases of a plan: summaries, costs, numbers of GPUs. They have words and numbers, and no text from job files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gen.base import counted
from gen.base.codes.rendered import DATA_SHRUNK, DATA_UNPROTECTED, NOT_RENDERED
from gen.kubernetes.facts.demand import Demand
from gen.kubernetes.quantity import MONTH_HOURS
from gen.overlay.costs import Bill, RunCost, money
from gen.report.plan.sentences import longest, monthly, signed_money
from gen.report.templates import Phrase
from gen.review.data import DataAction
from gen.review.gpus_and_costs import Load
from gen.review.result import ObjectAction, Review
from gen.review.run_versions import RunState, RunVersion
from gen.review.runs import RunAction, RunChange

if TYPE_CHECKING:
    from gen.live.plan_facts import LiveFacts

ASSUMPTIONS: Final = (
    Phrase("a run costs the price of its devices until its time limit; most runs end earlier and cost less"),
    Phrase(f"a month has {MONTH_HOURS} hours, and a run without a time limit takes all of them"),
    Phrase("a schedule counts with its average number of runs in a month"),
    Phrase("CPUs, memory, storage and networks are not included"),
)
"""Assumptions behind the amounts."""
_UNPRICED: Final = ", without devices that have no price"


def amounts(given: Mapping[str, int]) -> str:
    """`1,234.50 EUR and 20.00 USD`."""
    return " and ".join(f"{money(value)} {currency}" for currency, value in sorted(given.items()))


def cost_phrase(version: RunVersion) -> Phrase:
    """`at most 24.00 EUR`, or the price of an hour; empty without prices."""
    cost = version.cost
    if cost is None:
        return Phrase("")
    known = f"at most {money(cost.run)} {cost.currency}" if cost.run is not None else _hourly([cost])
    if version.in_place:
        known += f" each, at most {money(cost.month)} {cost.currency} in a month"
    return Phrase(f"{known}{_UNPRICED if cost.unpriced else ''}")


def costs_phrase(versions: Sequence[RunVersion]) -> Phrase:
    """`cost_phrase` of several runs together."""
    known = [one.cost for one in versions if one.cost is not None]
    bounded, endless = [one for one in known if one.run is not None], [one for one in known if one.run is None]
    parts = [f"at most {_sum((one.currency, one.run or 0) for one in bounded)}"] if bounded else []
    parts += [_hourly(endless)] if endless else []
    return Phrase(", ".join(parts) + (_UNPRICED if any(one.unpriced for one in known) else ""))


def _hourly(costs: Iterable[RunCost]) -> str:
    return f"{_sum((one.currency, one.hour) for one in costs)} an hour"


def _sum(values: Iterable[tuple[str, int]]) -> str:
    total: dict[str, int] = {}
    for currency, value in values:
        total[currency] = total.get(currency, 0) + value
    return amounts(total)


def bill_phrase(bill: Bill) -> str:
    """The cost of starting runs."""
    parts = [f"starting runs cost at most {amounts(bill.amounts)}"] if bill.amounts else []
    if bill.unbounded:
        parts.append(f"{counted(len(bill.unbounded), 'starting run')} without a time limit, so without a bound")
    return " and ".join(parts) + (_UNPRICED if bill.unpriced else "")


def months(review: Review) -> str:
    """`1,000.00 → 2,000.00 EUR`, for each currency."""
    before: dict[str, int] = {}
    after: dict[str, int] = {}
    for row in review.costs:
        before[row.currency] = before.get(row.currency, 0) + row.before.month
        after[row.currency] = after.get(row.currency, 0) + row.after.month
    return " and ".join(f"{money(before[one])} → {money(after[one])} {one}" for one in sorted(before))


RUN_SECTIONS = {
    RunAction.REPLACED: "runs that replace the previous run of their job",
    RunAction.STARTED: "runs that start",
    RunAction.STOPPED: "runs that stop",
    RunAction.UNSCHEDULED: "removed schedules: the runs that they started stop",
    RunAction.RESCHEDULED: "edited schedules: their runs go on, and later runs have the change",
    RunAction.SCHEDULED: "new schedules: their runs start at their times",
    RunAction.UNDEFINED: "removed pipelines of Kubeflow Pipelines: their runs go on",
    RunAction.REDEFINED: "new versions of pipelines of Kubeflow Pipelines: runs of earlier versions go on",
    RunAction.DEFINED: "new pipelines of Kubeflow Pipelines: people start their runs, and each has these GPUs",
    RunAction.RESUMED: "runs that resume",
    RunAction.SUSPENDED: "suspended runs",
    RunAction.RETIRED: "retired runs, kept as records: GitOps engines neither start nor stop them",
    RunAction.REOPENED: "reopened runs, recreated if they no longer exist in the cluster",
    RunAction.EDITED: "runs edited in place, without a new name",
    RunAction.ADDED: "new runs that do not start",
    RunAction.REMOVED: "removed runs that were not active",
}
"""Titles of the lists of runs, the most important one first."""

_OTHERS = (
    *(RunAction.RETIRED, RunAction.EDITED, RunAction.SCHEDULED, RunAction.RESCHEDULED),
    *(RunAction.DEFINED, RunAction.REDEFINED, RunAction.UNDEFINED, RunAction.ADDED, RunAction.REMOVED),
)
"""Effects that neither start nor stop a run."""
_STARTS: Final = {RunAction.STARTED: "new", RunAction.REPLACED: "replacing another"}
_STOPS: Final = {
    RunAction.REPLACED: "replaced",
    RunAction.STOPPED: "removed",
    RunAction.UNSCHEDULED: "removed with its schedule",
}
"""Why runs start and stop, if another word than that of the action is clearer."""


class Row(Struct, frozen=True, kw_only=True):
    """A row of the summary: one of the four numbers of each plan."""

    title: Phrase
    value: Phrase
    note: Phrase


def verdict(review: Review) -> str:
    """Whether it may be merged, with the codes of the errors, which can be those of plugins."""
    codes = dict.fromkeys(finding.code for finding in review.findings if finding.is_error)
    return f"refused: {', '.join(codes)}; " if codes else f"{outcome(review)}: "


PASSES: Final = Phrase("no errors")


def outcome(review: Review) -> Phrase:
    """`no errors`, `refused`, or `check failed`, for files that a render would change."""
    return Phrase("refused") if review.refused else Phrase("check failed") if review.check_fails else PASSES


def headline(review: Review, live: LiveFacts | None = None) -> Phrase:
    """The first line: objects that gen did not render, runs that start and stop, the costs, the safety of data."""
    stale = any(finding.code == NOT_RENDERED.name for finding in review.findings)
    left_out = "jobs with errors" if review.incomplete else "changes" if stale else ""
    parts = [f"incomplete plan, because {left_out} are not rendered"] if left_out else []
    parts += [_unrendered(review)] if review.unrendered else []
    if review.starting or review.stopping:
        parts += [_starting(review), _stopping(review, live)]
    else:
        parts.append("no run starts or stops")
    if review.costs:
        cost, unknown = monthly(_cost_differences(review)), len(_without_prices(review))
        parts += [cost] if cost else [] if unknown else ["the same cost"]
        parts += [f"the cost of {counted(unknown, 'run')} is unknown"] if unknown else []
    return Phrase(", ".join([*parts, _data_safety(review)]))


def _unrendered(review: Review) -> str:
    pods = sum(one.demand.pods for one in review.unrendered)
    gpus = sum(one.demand.gpus for one in review.unrendered)
    objects = counted(len(review.unrendered), "object")
    return f"{objects} not rendered by gen ({counted(pods, 'pod')}, {counted(gpus, 'GPU')})"


def _starting(review: Review) -> str:
    if not review.starting:
        return "no run starts"
    demands = [run.latest.demand for run in review.starting]
    pods, gpus = sum(one.pods for one in demands), sum(one.gpus for one in demands)
    return f"{_runs(review.starting, 'start')} ({counted(pods, 'pod')}, {counted(gpus, 'GPU')})"


def _stopping(review: Review, live: LiveFacts | None) -> str:
    stopping = review.stopping
    if not stopping:
        return "no run stops"
    trained = longest(stopping, live)
    after = "" if live is None else f" after up to {trained}" if trained else ", and no training is known"
    return f"{_runs(stopping, 'stop')}{after} ({_reasons(stopping, _STOPS)})"


def _reasons(runs: Iterable[RunChange], words: Mapping[RunAction, str]) -> str:
    """`8 replaced, 8 removed, 2 suspended`: the number of all runs."""
    counts = Counter(run.action for run in runs)
    return ", ".join(f"{counts[action]:,} {words.get(action, action.value)}" for action in RunAction if counts[action])


def _data_safety(review: Review) -> str:
    removed = sum(data.action is DataAction.REMOVED for data in review.data)
    lost = [f"{counted(removed, 'data object')} removed"] if removed else []
    lost += [
        f"{counted(len(places), 'data object')} {word}"
        for word, code in (("shrunk", DATA_SHRUNK), ("unprotected", DATA_UNPROTECTED))
        if (places := {finding.place.file for finding in review.findings if finding.code == code.name})
    ]
    return ", ".join(lost) or "no data is lost"


def summary(review: Review) -> tuple[Row, ...]:
    """The four numbers of each plan."""
    before, after = (sum(load.gpus for load in loads) for loads in _loads(review))
    requested = Load()
    for run in review.starting:
        requested += run.latest.demand
    gpus = f"starting runs request {_load_phrase(requested)}" if review.starting else ""
    others = [f"{review.kept:,} kept"] if review.kept else []
    others += [f"{review.run_actions[action]:,} {action.value}" for action in _OTHERS if review.run_actions[action]]
    notes = [f"starts: {_reasons(review.starting, _STARTS)}"] if review.starting else []
    notes += [f"stops: {_reasons(review.stopping, _STOPS)}"] if review.stopping else []
    rows = {
        "Runs": (_started_and_stopped(review), "; ".join([*notes, *([", ".join(others)] if others else [])])),
        "GPUs": (f"{before:,} → {after:,}", gpus),
        "Cost": _cost(review),
        "Data": (_data_safety(review), _nonzero(Counter(data.action for data in review.data), DataAction)),
    }
    return tuple(
        Row(title=Phrase(title), value=Phrase(value), note=Phrase(note)) for title, (value, note) in rows.items()
    )


def _started_and_stopped(review: Review) -> str:
    counts = [f"{len(runs):,} {verb}" for runs, verb in ((review.starting, "start"), (review.stopping, "stop")) if runs]
    return ", ".join(counts) or "none starts or stops"


def _without_prices(review: Review) -> list[RunChange]:
    """Runs that start or stop in overlays without prices, such as removed ones."""
    return [run for run in review.runs if (run.starts or run.stops) and run.latest.cost is None]


def _cost(review: Review) -> tuple[str, str]:
    """The difference in a month, and the amounts that explain it."""
    bill = bill_phrase(review.bill) if review.bill is not None else ""
    if not review.costs:
        return ("unknown", bill) if bill else ("no prices", "")
    note = "; ".join(filter(None, [f"active runs at most {months(review)} in a month", bill]))
    same = "partly unknown" if _without_prices(review) else "no change"
    return (f"{difference} a month" if (difference := signed_money(_cost_differences(review))) else same), note


def _cost_differences(review: Review) -> Counter[str]:
    """The increase of the maximum monthly cost of active runs, in hundredths, by currency."""
    changes = Counter[str]()
    for row in review.costs:
        changes[row.currency] += row.after.month - row.before.month
    return changes


def footnotes(review: Review, live: LiveFacts | None) -> Iterator[Phrase]:
    """Other changes, without those that are zero."""
    if review.stopping and live is None:
        yield Phrase("how long the runs that stop have trained is not in Git: gen plan --live asks the clusters")
    if review.permissions:
        yield Phrase(f"new permissions: {', '.join(dict.fromkeys(what for what, _ in review.permissions))}")
    changed = {action: number for action, number in review.tensorboards.items() if action is not ObjectAction.KEPT}
    if counts := _nonzero(changed, ObjectAction):
        yield Phrase(f"TensorBoards: {counts}")
    if counts := _nonzero(review.object_actions, ObjectAction):
        yield Phrase(f"objects: {review.before:,} → {review.after:,}, {counts}")
    if review.behind:
        yield Phrase(f"{counted(len(review.behind), 'run')} kept as committed, although the platform changed since")


def _nonzero(counts: Mapping[Any, int], actions: Iterable[Any]) -> str:
    return ", ".join(f"{counts[action]:,} {action.value}" for action in actions if counts.get(action))


def _loads(review: Review) -> tuple[list[Load], list[Load]]:
    return [row.before for row in review.usage], [row.after for row in review.usage]


def _load_phrase(load: Load) -> str:
    parts = [counted(load.gpus, "GPU")]
    if load.gpu_hours:
        parts.append(f"at most {number(load.gpu_hours)} GPU-hours")
    if load.unbounded:
        parts.append(f"{counted(load.unbounded, 'run')} without a time limit")
    return ", ".join(parts)


def demand_phrase(demand: Demand) -> Phrase:
    """`3 pods, 24 GPUs, at most 288 GPU-hours`."""
    parts = [counted(demand.pods, "pod"), counted(demand.gpus, "GPU")]
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
    return f"{value:,.1f}".removesuffix(".0")


def _runs(runs: tuple[RunChange, ...], verb: str) -> str:
    return f"1 run {verb}s" if len(runs) == 1 else f"{len(runs):,} runs {verb}"


def values_of(text: str) -> dict[str, str] | None:
    """The values of a run of a sweep; None for other runs, and for text that gen did not write."""
    with suppress(ValueError):
        values = json.loads(text)
        if isinstance(values, dict) and all(isinstance(value, str) for value in values.values()):
            return values
    return None


def run_hours(versions: Iterable[RunVersion]) -> Phrase:
    """GPU-hours at most of several runs together; empty without GPUs."""
    hours = [version.demand.gpu_hours for version in versions if version.demand.gpus]
    if not hours:
        return Phrase("")
    bounded = [one for one in hours if one is not None]
    return Phrase("no time limit" if len(bounded) < len(hours) else number(sum(bounded)))


def preempting(runs: Iterable[RunChange]) -> str:
    """PriorityClasses of pods that may stop others after the merge, as files have them; empty without any."""
    after = (run.after for run in runs if run.after is not None and run.after.state is not RunState.FINISHED)
    return ", ".join(sorted({name for version in after for name in version.preempts}))


def state_phrase(run: RunChange) -> Phrase:
    """State of a run that is not active. Empty when its section already names the state."""
    if run.latest.state is RunState.SUSPENDED and run.latest.counts:
        what = "no run starts; those that have" if run.latest.in_place else "no step starts; those that have"
        return Phrase(f"{what} go on, and count")
    named = run.latest.active or run.action in (RunAction.RETIRED, RunAction.SUSPENDED)
    return Phrase("" if named else run.latest.state.value)
