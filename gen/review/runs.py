"""Effects on runs: which ones start, stop, continue or become records that the engines ignore.

Reads the runs in two rendered trees, and reports changes that have no effect, or an unwanted one, in a cluster.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Findings, Location, contained
from gen.base.codes.rendered import NEVER_RAN, NOT_APPLIED, RUN_EDITED
from gen.base.engines import ENGINES
from gen.base.parallel import map_parallel
from gen.base.repository.layout import engine_of, scope_overlay
from gen.kubernetes.facts.demand import Demand
from gen.kubernetes.facts.state import content
from gen.overlay.costs import run_cost
from gen.overlay.overlay import Overlay
from gen.overlay.profiles.engines.base import SyncEffect
from gen.render.emit import has_text_of
from gen.render.rendered_object import ObjectKey, workload
from gen.render.results import RunResult
from gen.render.starters import PREEMPTS
from gen.review.rendered_trees import Pair
from gen.review.replay import UNTOUCHED, Outcomes
from gen.review.run_versions import EqualRuns, RunState, RunVersion, version_of

Item = TypeVar("Item")


class RunAction(StrEnum):
    """Effect of a merge on a run."""

    STARTED = "started"
    REPLACED = "replaced"
    """A new run replaces the previous run of the job."""
    STOPPED = "stopped"
    SUSPENDED = "suspended"
    RESUMED = "resumed"
    RETIRED = "retired"
    """It becomes a record in Git, which engines neither apply nor delete."""
    REOPENED = "reopened"
    """It was a record. An engine recreates it if it no longer exists, and then it runs again."""
    EDITED = "edited"
    """It changed under the same name. The API server rejects the change or applies only a part of it."""
    ADDED = "added"
    """New, but suspended or finished, so nothing starts."""
    REMOVED = "removed"
    """Removed, but no pod of it can have been running, so nothing stops."""
    SCHEDULED = "scheduled"
    """A new schedule. Its runs start at its times."""
    RESCHEDULED = "rescheduled"
    """A schedule that changes in place. Its present runs continue; later runs have the change."""
    UNSCHEDULED = "unscheduled"
    """A removed schedule. The runs that it started are removed with it."""
    DEFINED = "defined"
    """A new pipeline of Kubeflow Pipelines. People start its runs."""
    REDEFINED = "redefined"
    """A new version of one. Runs of earlier versions continue."""
    UNDEFINED = "undefined"
    """A removed one. Its runs continue."""
    KEPT = "kept"


_BY_STATE = {
    RunState.ACTIVE: RunAction.REOPENED,
    RunState.SUSPENDED: RunAction.SUSPENDED,
    RunState.FINISHED: RunAction.RETIRED,
}
"""Effect of a change to another state, except for resumed runs."""


class RunChange(Struct, frozen=True):
    """A run before and after the merge, or a run and the one that it replaces."""

    pair: Pair
    job: str
    before: RunVersion | None
    after: RunVersion | None
    edited: bool
    """Whether its content changed under the same name."""
    replayed: Outcomes = UNTOUCHED
    """Action of the engines on it."""
    earlier: bool = False
    """Whether a stopped run of the job has checkpoints."""

    @property
    def key(self) -> ObjectKey:
        return self.pair.object.key

    @property
    def continues(self) -> str:
        """The name of the earlier run that a starting one continues from; empty if it starts from zero."""
        return self.after.resumes.rpartition("/")[2] if self.starts and self.after is not None else ""

    @property
    def starts_over(self) -> bool:
        """Whether it starts from zero although an earlier run has checkpoints."""
        if not self.starts or self.after is None or self.after.resumes or not self.after.saves:
            return False
        before = self.before if self.pair.replaced else None
        return self.earlier or (before is not None and bool(before.saves))

    @property
    def latest(self) -> RunVersion:
        """The run after the merge, or before it if the merge removes the run."""
        version = self.after or self.before
        assert version is not None  # a run exists before or after
        return version

    @property
    def replaces(self) -> str:
        """Name of the run that it replaces, or an empty string."""
        return self.pair.before.key.name if self.pair.replaced and self.pair.before is not None else ""

    @property
    def starts(self) -> bool:
        if self.after is None or not self.after.active or self.after.later:
            return False
        deed = self.replayed.after.deed
        return deed.creates or (deed is SyncEffect.PATCHED and self.before is not None and not self.before.active)

    @property
    def stops(self) -> bool:
        """Whether pods that may run are removed. A retired run is not stopped."""
        if self.before is None or not self.before.counts or self.before.versioned:
            return False
        if self.replayed.before.deed.deletes:
            return True
        suspended = self.after is not None and self.after.state is RunState.SUSPENDED and not self.after.counts
        return suspended and not self.before.in_place and self.replayed.after.deed is SyncEffect.PATCHED

    @property
    def remains(self) -> RunVersion | None:
        """The version in the cluster after the merge."""
        before = self.before
        if before is None or not before.counts or self.replayed.before.deed.deletes:
            return self.after
        gone = self.after is None or self.pair.replaced
        return before if gone or self.replayed.after.deed in {SyncEffect.BLOCKED, SyncEffect.REFUSED} else self.after

    @property
    def action(self) -> RunAction:
        before, after = self.before, self.after
        if self.latest.versioned or before is None or after is None:
            return self._defined() if self.latest.versioned else self._added_or_removed()
        if self.pair.replaced:
            return RunAction.REPLACED
        if before.state is after.state and after.in_place:
            return RunAction.RESCHEDULED if self.edited else RunAction.KEPT
        if before.state is after.state:
            return RunAction.EDITED if self.edited and after.state is not RunState.FINISHED else RunAction.KEPT
        if before.state is RunState.SUSPENDED and after.active:
            return RunAction.RESUMED
        return _BY_STATE[after.state]

    def _defined(self) -> RunAction:
        if self.after is None:
            return RunAction.UNDEFINED
        if self.before is None or not self.before.versioned:
            return RunAction.DEFINED
        return RunAction.REDEFINED if self.pair.replaced or self.edited else RunAction.KEPT

    def _added_or_removed(self) -> RunAction:
        if self.latest.in_place and self.before is not None and self.before.counts:
            return RunAction.UNSCHEDULED
        if self.latest.in_place and self.latest.active:
            return RunAction.SCHEDULED
        if self.before is None:
            return RunAction.STARTED if self.starts else RunAction.ADDED
        return RunAction.STOPPED if self.stops else RunAction.REMOVED


def run_changes(
    pairs: Iterable[Pair],
    overlays: Mapping[str, Overlay],
    found: Findings,
    replayed: Mapping[Pair, Outcomes] = MappingProxyType({}),
    rendered: RunResult | None = None,
    parallel: int = 1,
) -> tuple[RunChange, ...]:
    """The runs among the objects, with findings about their changes. `rendered` knows active runs."""
    both = list(pairs)
    engines = _engines_at_base(both)
    unchanged = _unchanged_runs(both, overlays, engines, rendered, parallel)
    runs = []
    for pair in both:
        if pair in unchanged and pair not in replayed:
            runs.append(unchanged[pair])
        elif pair.workload is not None:
            with contained(found, Location(pair.object.path), f"compare {pair.object.key}"):
                run = unchanged.get(pair) or _run(pair, overlays, engines, found)
                run = replace(run, replayed=replayed.get(pair, UNTOUCHED))
                runs.append(run)
                _check(run, found)
    return tuple(runs)


_NO_PAIR: Final = Pair(None, None)
"""Instead of the objects of a run, which the first process has."""
_RUNS_PER_PROCESS = 400
"""Starting a process takes as long as reading about this many runs."""


def _unchanged_runs(
    pairs: Sequence[Pair],
    overlays: Mapping[str, Overlay],
    engines: Mapping[str, set[str]],
    rendered: RunResult | None,
    parallel: int,
) -> dict[Pair, RunChange]:
    """Runs in unchanged files: from the render that wrote them, or read by several processes.

    Without those that have findings, which are read again in their order.
    """
    equal: EqualRuns = {}

    def read(unread: Sequence[Pair], done: Callable[[int], None]) -> list[RunChange | None]:
        runs: list[RunChange | None] = []
        for pair in unread:
            with contained(own := Findings(), Location(pair.object.path), f"compare {pair.object.key}"):
                run = replace(_run(pair, overlays, engines, own, equal), pair=_NO_PAIR)
            runs.append(None if own.items else run)
        done(len(runs))
        return runs

    same = [pair for pair in pairs if pair.is_same and pair.workload is not None]
    known = {pair: summarized(pair, overlays, rendered) if rendered is not None else None for pair in same}
    unread = [pair for pair, run in known.items() if run is None]
    runs = zip(unread, map_parallel(read, unread, parallel, worth_it=_RUNS_PER_PROCESS), strict=True)
    known |= {pair: replace(run, pair=pair) for pair, run in runs if run is not None}
    return {pair: run for pair, run in known.items() if run is not None}


def _engines_at_base(pairs: Iterable[Pair]) -> Mapping[str, set[str]]:
    """The engines that apply the runs of each overlay at the base, by the objects that configure them."""
    engines: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        if pair.before is not None and (engine := engine_of(pair.before.key.scope)):
            engines[scope_overlay(pair.before.key.scope)].add(engine)
    return engines


def _run(
    pair: Pair,
    overlays: Mapping[str, Overlay],
    engines: Mapping[str, set[str]],
    found: Findings,
    equal: EqualRuns | None = None,
) -> RunChange:
    """A record is one for the engines of its tree: another engine may apply other objects."""
    before = after = None
    if pair.before is not None:
        before = version_of(pair.before, overlays, engines.get(pair.before.key.scope, ()), found, equal)
    if pair.after is not None:
        overlay = overlays.get(pair.after.key.scope)
        after = before
        if before is None or pair.after is not pair.before or before.state is RunState.FINISHED:
            after = version_of(pair.after, overlays, overlay.engines if overlay is not None else (), found, equal)
    return RunChange(pair, pair.object.job, before, after, edited=_edited(pair))


_MARKS = ("suspend: true", PREEMPTS, *(engine.finished.key for engine in ENGINES.values()))
"""Texts in the files of runs that are not active, or of which a summary does not have all."""


def summarized(pair: Pair, overlays: Mapping[str, Overlay], rendered: RunResult) -> RunChange | None:
    """An active run that did not change, from the render that wrote its file; None if its file must be read."""
    run = pair.object
    summary, file = rendered.summaries.get(run.path), rendered.files.get(run.path)
    kind, overlay = workload(run), overlays.get(run.key.scope)
    if summary is None or file is None or kind is None or overlay is None or not has_text_of(file, run.text):
        return None
    if any(mark in run.text for mark in _MARKS):
        return None
    one = Demand(summary.pods, summary.gpus, summary.seconds, summary.accelerators)
    version = RunVersion(
        name=run.key.name,
        state=RunState.ACTIVE,
        demand=one,
        queue=summary.queue,
        values=summary.values,
        suspend_stops=kind.suspend_stops,
        cost=run_cost(one, overlay.prices) if overlay.prices is not None else None,
        runtimes=overlay.runtimes,
        saves=summary.saves,
        resumes=summary.resumes,
    )
    return RunChange(pair, summary.job, version, version, edited=False)


def _edited(pair: Pair) -> bool:
    before, after = pair.before, pair.after
    if before is None or after is None or before is after or pair.replaced:
        return False
    return content(before.body) != content(after.body)


def _check(run: RunChange, found: Findings) -> None:
    place = Location(run.pair.object.path)
    _check_applied(run, found)
    in_place = run.after is None or run.after.in_place
    if run.edited and run.after is not None and not in_place and run.after.state is not RunState.FINISHED:
        message = f"`{run.key}` changed but kept its name; the API server rejects the change or applies a part of it"
        if run.pair.object.run and run.pair.object.run in run.key.name:
            found.error(RUN_EDITED, place, message, "run `gen render`, which gives the run a new name")
        else:
            hint = "delete the object in the cluster so that it is recreated, or remove `runs: {naming: stable}`"
            found.warning(RUN_EDITED, place, message, hint)
    if run.pair.replaced and run.after is not None and run.after.state is RunState.FINISHED and run.stops:
        message = f"`{run.key}` is the record of a run that never ran; it replaces a run that may be active"
        found.warning(NEVER_RAN, place, message, "finish the job and edit it in two pull requests")


def _check_applied(run: RunChange, found: Findings) -> None:
    """Warn if an engine does not start or stop a run as its file says."""
    replayed, pair = run.replayed, run.pair
    before, after = run.before, run.after
    left = before is not None and before.counts and not before.versioned and (after is None or pair.replaced)
    if left and not replayed.before.deed.deletes and pair.before is not None:
        message = f"{replayed.engine} keeps `{pair.before.key}` without its file: {replayed.before.reason}"
        found.warning(NOT_APPLIED, Location(pair.before.path), message, "delete the object in the cluster")
    asked = (
        after is not None and not after.later and (before is None or before.state is not after.state or pair.replaced)
    )
    applied = {SyncEffect.PATCHED, SyncEffect.CREATED, SyncEffect.REPLACED}
    if asked and after is not None and after.state is not RunState.FINISHED and replayed.after.deed not in applied:
        message = f"{replayed.engine} does not apply `{run.key}`: {replayed.after.reason}"
        found.warning(NOT_APPLIED, Location(pair.object.path), message, "remove the cause, in a change of its own")
