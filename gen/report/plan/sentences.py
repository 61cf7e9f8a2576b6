"""One sentence for each change of a merge, in the words of the job file, the most important one first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gen.base import counted, every
from gen.base.codes.rendered import (
    DATA_REMOVED,
    DATA_RENAMED,
    DATA_SHRUNK,
    DATA_UNPROTECTED,
    DELIVERY_REMOVED,
    IMMUTABLE_STORAGE,
)
from gen.overlay.costs import money
from gen.report.templates import Phrase
from gen.review.changes import FieldEdit, JobChange
from gen.review.data import DataAction, DataObject
from gen.review.result import Review
from gen.review.runs import RunAction, RunChange

if TYPE_CHECKING:
    from gen.live.plan_facts import LiveFacts

LOST: Final = {code.name for code in (DATA_REMOVED, DATA_RENAMED, DATA_SHRUNK, DATA_UNPROTECTED, IMMUTABLE_STORAGE)}
"""Findings about data that a merge puts at risk."""
_NAMES: Final = 3
"""Names and fields that a sentence has."""
_LONGEST: Final = 60
"""Characters of a value in a sentence."""
_GRANTS: Final = 8
"""Sentences about what one overlay grants."""
_SIZES: Final = {"workers": "workers", "gpus": "GPUs for each pod"}
"""Fields with a number that says how large a job is."""


class SentencePart(Struct, frozen=True, kw_only=True):
    """A part of a sentence: words of gen, and a name or value from a file after them, which may be empty."""

    phrase: Phrase
    value: str


class Sentence(Struct, frozen=True, kw_only=True):
    """A change."""

    parts: tuple[SentencePart, ...]
    own: tuple[SentencePart, ...] = ()
    """The change of each of its jobs, without their names."""
    jobs: tuple[str, ...] = ()
    """`namespace/name` of the jobs that it is about."""

    def text(self, quote: Callable[[str], str]) -> str:
        """The sentence, with `quote` for its values."""
        return "".join(f"{part.phrase}{quote(part.value) if part.value else ''}" for part in self.parts)


Parts = Iterator[SentencePart]


def sentences(review: Review, live: LiveFacts | None = None) -> tuple[Sentence, ...]:
    """Objects that gen did not render, data at risk, removed delivery, jobs, grants, and data that is safe."""
    risky = {finding.place.file for finding in review.findings if finding.code in LOST}
    data = [one for one in review.data if one.action is not DataAction.KEPT]
    lost = [one for one in data if one.pair.object.path in risky]
    safe = [one for one in data if one.pair.object.path not in risky]
    several = len({namespace for change in review.changes for namespace, _ in change.jobs}) > 1
    return (
        *_sentences_of_unrendered(review),
        *_sentences_of_data(lost, at_risk=True),
        *_sentences_of_delivery(review),
        *(_sentence_of_jobs(change, live, with_namespace=several) for change in review.changes),
        *_sentences_of_grants(review),
        *_sentences_of_data(safe, at_risk=False),
    )


def _sentences_of_grants(review: Review) -> Iterator[Sentence]:
    """Quotas and other grants to namespaces that an overlay changes, the first few of each overlay."""
    for path, edits in groupby(review.grants, key=itemgetter(0)):
        several = [edit for _, edit in edits]
        shown = several if len(several) <= _GRANTS else several[: _GRANTS - 1]
        for edit in shown:
            yield Sentence(parts=(_said("", path), *_edit(edit, lambda singular, _: f" {singular}")))
        if more := len(several) - len(shown):
            yield Sentence(parts=(_said("", path), _said(f" changes {more:,} more grants")))


def signed_money(amounts: Mapping[str, int]) -> str:
    """`+8,553.60 EUR and -20.00 USD`; empty if nothing differs."""
    return " and ".join(
        f"{'+' if amount > 0 else '-'}{money(abs(amount))} {currency}"
        for currency, amount in sorted(amounts.items())
        if amount
    )


def signed(number: int) -> str:
    return f"{number:+,}"


def _said(phrase: str, value: str = "") -> SentencePart:
    return SentencePart(phrase=Phrase(phrase), value=value)


def _listed(values: Sequence[str], noun: str, before: str = "") -> Parts:
    """`a`, `b` and `c`, or `a`, `b`, `c` and 4 more jobs."""
    shown = values[:_NAMES]
    more = len(values) - len(shown)
    for index, value in enumerate(shown):
        last = index and index == len(shown) - 1 and not more
        yield _said(before if not index else " and " if last else ", ", value)
    if more:
        yield _said(f" and {more:,} more {noun}")


def _sentence_of_jobs(change: JobChange, live: LiveFacts | None, *, with_namespace: bool) -> Sentence:
    names = [f"{namespace}/{name}" if with_namespace else name for namespace, name in change.jobs]
    alone, effects = len(change.jobs) == 1, list(_effects(change, live))
    parts = (*_listed(names, "jobs"), *_predicate(change, alone=alone), *effects)
    first, *rest = _predicate(change, alone=True)
    own = (_said(first.phrase.lstrip(), first.value), *rest, *(effects if alone else ()))
    return Sentence(parts=parts, own=own, jobs=tuple(f"{namespace}/{name}" for namespace, name in change.jobs))


def _predicate(change: JobChange, *, alone: bool) -> Parts:
    def verb(singular: str, plural: str) -> str:
        return f" {singular if alone else plural}"

    states = [word for action, word in _STATES.items() if change.actions[action] and not change.of_some_runs]
    if change.stopped is not None:
        states.append("stopped" if change.stopped else "no longer stopped")
    state = f"{verb('is', 'are')} {' and '.join(states)}" if states else ""
    if change.removed or change.added:
        yield _said(f"{verb('is', 'are')} {'removed' if change.removed else 'new'}")
    elif change.edits:
        yield from _edits(change.edits, verb)
        if state:
            yield _said(f" and{state}")
    elif state:
        yield _said(state)
    elif any(run.pair.before is not None and run.pair.after is not None for run in change.runs):
        starts = verb("starts", "start") if change.starting else verb("changes", "change")
        again = f"{starts}{' again' if change.starting else ''}"
        yield _said(f"{again} for ", change.reason) if change.reason else _said("")
        yield _said(f"{'' if change.reason else again} with the overlays and gen of today")
    else:
        leaves = any(run.after is None for run in change.runs)
        yield from _listed(
            change.overlays, "overlays", f"{verb('leaves', 'leave') if leaves else verb('joins', 'join')} "
        )
        return
    yield from _overlays(change)


def _edits(edits: Sequence[FieldEdit], verb: Callable[[str, str], str]) -> Parts:
    shown = edits[:_NAMES]
    more = len(edits) - len(shown)
    for index, edit in enumerate(shown):
        if index:
            yield _said(" and" if index == len(shown) - 1 and not more else ",")
        yield from _edit(edit, verb)
    if more:
        yield _said(f" and {more} more field{'' if more == 1 else 's'}")


_STATES: Final = {
    RunAction.SUSPENDED: "suspended",
    RunAction.RESUMED: "resumed",
    RunAction.RETIRED: "finished",
    RunAction.REOPENED: "reopened",
}


def _edit(edit: FieldEdit, verb: Callable[[str, str], str]) -> Parts:
    before, after, path = edit.before, edit.after, edit.path
    numbers = [side for side in (before, after) if side is not None and side.isdecimal()]
    long = any(side is not None and (len(side) > _LONGEST or "\n" in side) for side in (before, after))
    if path in _SIZES and len(numbers) == len((before, after)) and before is not None and after is not None:
        grows = int(after) > int(before)
        which = verb("grows", "grow") if grows else verb("shrinks", "shrink")
        yield _said(f"{which} from {int(before)} to {int(after)} {_SIZES[path]}")
    elif before is None and after is None:
        yield _said(f"{verb('changes', 'change')} ", path)
    elif before is None or after is None:
        what = verb("adds", "add") if before is None else verb("removes", "remove")
        value = str(after if before is None else before)
        if long:
            yield _said(f"{what} a part of " if edit.part else f"{what} ", path)
            return
        if edit.part:
            yield _said(f"{what} ", value)
            yield _said(" to " if before is None else " from ", path)
        else:
            yield _said(f"{what} ", f"{path}: {value}")
    elif long:
        yield _said(f"{verb('changes', 'change')} ", path)
    else:
        yield _said(f"{verb('changes', 'change')} ", path)
        yield _said(" from ", before or "''")
        yield _said(" to ", after or "''")


def _overlays(change: JobChange) -> Parts:
    if change.everywhere and len(change.overlays) == 1:
        return
    if change.everywhere:
        yield _said(f" in {every(len(change.overlays), 'cluster')}")
    else:
        yield from _listed(change.overlays, "overlays", " in ")


def _effects(change: JobChange, live: LiveFacts | None) -> Parts:
    """The difference in GPUs, runs and costs."""
    parts = [f"{signed(change.gpus)} GPU{'' if abs(change.gpus) == 1 else 's'}"] if change.gpus else []
    parts += run_effects(change, longest(change.stopping, live))
    parts += [cost] if (cost := monthly(change.months)) else []
    if parts:
        yield _said(f": {', '.join(parts)}")
    yield from _beginnings(change)


def monthly(amounts: Mapping[str, int]) -> str:
    """`at most +8,553.60 EUR a month`, or `saves up to 2,160.00 EUR a month`; empty if nothing differs."""
    changed = {currency: amount for currency, amount in amounts.items() if amount}
    if changed and max(changed.values()) < 0:
        saved = (f"{money(-amount)} {currency}" for currency, amount in sorted(changed.items()))
        return f"saves up to {' and '.join(saved)} a month"
    return f"at most {signed_money(changed)} a month" if changed else ""


def _beginnings(change: JobChange) -> Parts:
    """Where starting runs continue, as far as earlier runs have checkpoints."""
    alone = len(change.starting) == 1
    earlier = [run.continues for run in change.starting if run.continues]
    over = sum(run.starts_over for run in change.starting)
    if earlier:
        who = "it" if alone else "they" if len(earlier) == len(change.starting) else counted(len(earlier), "run")
        who += " continues" if len(earlier) == 1 else " continue"
        yield from _listed(sorted(set(earlier)), "runs", f"; {who} from ")
    if over:
        who = "it starts" if alone else f"{counted(over, 'run')} start{'s' if over == 1 else ''}"
        yield _said(f"; {who} from zero, although an earlier run has checkpoints")


def longest(runs: Iterable[RunChange], live: LiveFacts | None) -> str:
    """`31 hours`: the longest training of runs that stop; empty if nothing is known."""
    befores = [run.pair.before.key for run in runs if run.pair.before is not None] if live is not None else []
    lives = [live.life(key.scope, key.namespace, key.name) for key in befores] if live is not None else []
    seconds = [one.seconds for one in lives if one is not None and one.seconds is not None]
    return span(max(seconds)) if seconds else ""


def span(seconds: int) -> str:
    """`12 minutes`, `31 hours`, `5 days`."""
    for unit, size, least in (("day", 86400, 2 * 86400), ("hour", 3600, 2 * 3600), ("minute", 60, 60)):
        if seconds >= least:
            return counted(seconds // size, unit)
    return counted(seconds, "second")


def run_effects(change: JobChange, trained: str) -> Iterator[str]:
    """`its run is stopped`, `a new one starts`. `trained` is the longest training that ends."""
    stopping, starting, actions = change.stopping, change.starting, change.actions
    alone = len(change.jobs) == 1 and not change.of_sweeps
    if stopping:
        one = len(stopping) == 1 and alone
        scheduled = one and actions[RunAction.UNSCHEDULED]
        whose = "the runs of its schedule" if scheduled else "its run" if one else counted(len(stopping), "run")
        time = "" if not trained else f" of {trained}" if one else f" of up to {trained}"
        paused = change.of_some_runs and all(run.action is RunAction.SUSPENDED for run in stopping)
        be = "is" if len(stopping) == 1 and not scheduled else "are"
        yield f"{whose}{time} {be} {'suspended' if paused else 'stopped'}"
    if starting:
        again = all(run.action is RunAction.REOPENED for run in starting)
        what = "a new one starts" if len(starting) == 1 else f"{len(starting):,} new ones start"
        if not stopping:
            what = f"{counted(len(starting), 'run')} start{'s' if len(starting) == 1 else ''}"
        yield f"{what} unless {'it is' if len(starting) == 1 else 'they are'} still there" if again else what
    if edited := actions[RunAction.EDITED]:
        names = "keeps its name" if edited == 1 else "keep their names"
        yield f"{counted(edited, 'run')} {names}, so the cluster rejects the change or applies a part of it"
    if retired := actions[RunAction.RETIRED]:
        records = ("its record" if alone else "1 record") if retired == 1 else f"{retired:,} records"
        stay = "stays" if retired == 1 else "stay"
        yield f"{records} {stay} in Git{'' if stopping else ' and nothing is stopped'}"
    others = {RunAction.REMOVED: stopping, RunAction.ADDED: starting}
    for action, words in _NOTES.items():
        if actions[action] and not others.get(action):
            yield words


_NOTES: Final = {
    RunAction.SCHEDULED: "runs start at the times of its schedule",
    RunAction.RESCHEDULED: "present runs go on and later ones have the change",
    RunAction.DEFINED: "people start its runs",
    RunAction.REDEFINED: "runs of earlier versions go on",
    RunAction.UNDEFINED: "its runs go on",
    RunAction.ADDED: "nothing starts",
    RunAction.REMOVED: "nothing is stopped",
}
"""Effects besides the numbers of runs."""


def _sentences_of_unrendered(review: Review) -> Iterator[Sentence]:
    if not review.unrendered:
        return
    paths = list(dict.fromkeys(one.path for one in review.unrendered))
    pods, gpus = (
        sum(values) for values in zip(*((o.demand.pods, o.demand.gpus) for o in review.unrendered), strict=True)
    )
    be = "is" if len(paths) == 1 else "are"
    effect = f" {be} not rendered by gen: {counted(pods, 'pod')} and {counted(gpus, 'GPU')}"
    yield Sentence(parts=(*_listed(paths, "files"), _said(effect)))


def _sentences_of_delivery(review: Review) -> Iterator[Sentence]:
    """The engine may take with these objects all that they applied, so they come before the jobs."""
    files = {finding.place.file for finding in review.findings if finding.code == DELIVERY_REMOVED.name}
    names = [str(one.pair.object.key) for one in review.objects if one.pair.object.path in files]
    if names:
        more = len(names) - 1
        others = f" and {counted(more, 'more object')} of the GitOps engine are" if more else " is"
        effect = f"{others} removed: it may delete all that {'they' if more else 'it'} applied"
        yield Sentence(parts=(_said("", names[0]), _said(effect)))


def _sentences_of_data(objects: Iterable[DataObject], *, at_risk: bool) -> Iterator[Sentence]:
    """One for each effect."""
    groups: dict[DataAction, list[str]] = {}
    for one in objects:
        names = groups.setdefault(one.action, [])
        if (name := str(one.pair.object.key)) not in names:  # in another overlay
            names.append(name)
    for action, names in groups.items():
        be = "is" if len(names) == 1 else "are"
        risk = ": data is at risk" if at_risk else ": no data is lost"
        parts = [*_listed(names, "volumes and claims"), _said(f" {be} {action.value}{risk}")]
        yield Sentence(parts=tuple(parts))


def live_sentences(live: LiveFacts) -> tuple[Sentence, ...]:
    """Facts from the clusters: training that ends, free devices, queues and claims."""
    parts = [*_trainings(live), *_free_devices(live), *_queues(live)]
    parts += [
        [_said("claim ", f"{one.namespace}/{one.name}"), _said(" in ", one.overlay), _said(" ", one.state)]
        for one in live.claims
    ]
    return tuple(Sentence(parts=tuple(one)) for one in parts)


def _trainings(live: LiveFacts) -> Iterator[list[SentencePart]]:
    for one in sorted(live.runs, key=lambda one: -(one.seconds or 0)):
        time = f" has trained for {span(one.seconds)}" if one.seconds is not None else " has not started"
        said = [_said("", f"{one.namespace}/{one.name}"), _said(" in ", one.overlay), _said(time)]
        for name, value in one.metrics.items():
            said.append(_said(", ", f"{name}={value}"))
        if one.checkpoint:
            said.append(_said(", last line about a checkpoint: ", one.checkpoint))
        yield said


def _free_devices(live: LiveFacts) -> Iterator[list[SentencePart]]:
    for one in live.devices:
        free = "an unknown number is" if one.free is None else f"{one.free} {'is' if one.free == 1 else 'are'}"
        freed = f" and {one.freed} of runs that stop" if one.freed else ""
        waits = "" if one.fits or one.free is None else ": runs will wait"
        said = [_said("", one.accelerator or "GPUs"), _said(" in ", one.overlay)]
        yield [*said, _said(f": {counted(one.asked, 'device')} start, {free} free{freed}{waits}")]


def _queues(live: LiveFacts) -> Iterator[list[SentencePart]]:
    for one in live.queues:
        waiting = f"{counted(one.waiting, 'run')} already wait{'s' if one.waiting == 1 else ''}"
        text = f": {waiting if one.waiting else 'no run waits'}"
        yield [_said("queue ", one.queue), _said(" of ", one.namespace), _said(" in ", one.overlay), _said(text)]
