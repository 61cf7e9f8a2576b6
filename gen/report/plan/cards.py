"""Runs of a plan as cards of the page, and the details that it shows when they are opened.

Details are changed fields, the job file and rendered objects. They are packed, because the objects of a thousand
runs are several megabytes. If they are still too large, long texts are cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from gen.base import counted
from gen.kubernetes.facts.demand import StepDemand
from gen.render.rendered_object import RenderedObject
from gen.report.diff import field_lines, fold_roles
from gen.report.escaping import sanitize
from gen.report.plan.phrases import RUN_SECTIONS, cost_phrase, costs_phrase, preempting, run_hours, state_phrase
from gen.report.plan.sentences import Sentence, SentencePart
from gen.report.plan.view import branch_names, run_groups, runs_by_action
from gen.report.templates import Phrase, packed
from gen.review.result import ObjectChange, Review
from gen.review.runs import RunAction, RunChange
from gen.review.sources import job_file, without_secrets

_DEEPEST: Final = 8
"""Maximum level of indentation of steps."""
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


class Branch(Struct, frozen=True, kw_only=True):
    """A run of a sweep, or a step of a pipeline."""

    name: str
    level: int
    """Steps that end before it starts."""
    kind: str
    note: Phrase
    """Requested resources."""
    needs: tuple[str, ...]
    """Steps that it waits for."""
    details: int
    """Number of its details; -1 for a step, because its details are those of the pipeline."""


class Card(Struct, frozen=True, kw_only=True):
    """A run, or all runs of a job with the same effect."""

    number: int
    action: Phrase
    tone: Phrase
    overlays: tuple[str, ...]
    namespace: str
    job: str
    sentence: tuple[SentencePart, ...]
    """The change, in the words of the job file; empty if nothing is known."""
    run: str
    """Name of the object, or empty for several."""
    runs: Phrase
    """Number of runs, or empty."""
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
    """Legend of the branches; empty without any."""
    branches: tuple[Branch, ...]
    details: int
    """Number of its details; -1 for several runs, because each has its own."""


class CardSection(Struct, frozen=True, kw_only=True):
    """Cards with the same action."""

    name: Phrase
    """For links."""
    title: Phrase
    count: int
    cards: tuple[Card, ...]


def card_sections(review: Review, details: dict[str, int], said: Iterable[Sentence] = ()) -> Iterator[CardSection]:
    """Runs that a merge affects, by their action. `details` has the number of each run's details by its path."""
    known = 0
    about = {job: one.own for one in said for job in one.jobs}
    for action, runs in runs_by_action(review):
        groups = run_groups(runs)
        cards = tuple(_card(group, known + index, details, about) for index, group in enumerate(groups))
        known += len(groups)
        title = RUN_SECTIONS[action]
        yield CardSection(
            name=Phrase(action.value), title=Phrase(title[0].upper() + title[1:]), count=len(runs), cards=cards
        )


def kept_cards(review: Review) -> tuple[Card, ...]:
    """Unchanged active runs."""
    kept = [run for run in review.runs if run.action is RunAction.KEPT and run.latest.counts]
    return tuple(_card([run], index, {}, {}) for index, run in enumerate(kept[:MAX_KEPT]))


def _card(
    runs: Sequence[RunChange], index: int, details: dict[str, int], about: Mapping[str, tuple[SentencePart, ...]]
) -> Card:
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
        overlays=tuple(dict.fromkeys(run.key.scope for run in runs)),
        namespace=first.key.namespace,
        job=first.job,
        sentence=about.get(f"{first.key.namespace}/{first.job}", ()),
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
        hours=run_hours(versions),
        cost=cost_phrase(first.latest) if alone else costs_phrase(versions),
        tree=Phrase("" if alone and not first.latest.steps else "Steps" if alone else "Runs"),
        branches=tuple(map(_step, first.latest.steps)) if alone else tuple(_runs(runs, details)),
        details=details.get(first.pair.object.path, -1) if alone else -1,
    )


def _step(step: StepDemand) -> Branch:
    hours = _phrase(step.demand.pods, step.demand.gpus)
    level = min(step.depth, _DEEPEST)
    return Branch(name=step.name, level=level, kind=step.kind, note=hours, needs=step.needs, details=-1)


def _runs(runs: Sequence[RunChange], details: dict[str, int]) -> Iterator[Branch]:
    for name, run in sorted(zip(branch_names(runs), runs, strict=True), key=lambda entry: (entry[0], entry[1].key)):
        asked = run.latest.demand
        note = ", ".join(filter(None, (_phrase(asked.pods, asked.gpus), cost_phrase(run.latest))))
        number_of_details = details.get(run.pair.object.path, -1)
        yield Branch(name=name, level=0, kind="", note=Phrase(note), needs=(), details=number_of_details)


def _phrase(pods: int, gpus: int) -> Phrase:
    return Phrase(f"{counted(pods, 'pod')}, {counted(gpus, 'GPU')}")


Changes = dict[tuple[str, str], list[ObjectChange]]
"""Changed objects by the folder of their job and the hash of their run."""

_MAX_PACKED: Final = 1_000_000
"""Characters of the details in the page."""
_LONGEST: Final = 100_000
"""Characters of one text."""
_SHORTEST: Final = 50


class Details:
    """Details of all runs that change."""

    def __init__(self, review: Review) -> None:
        self._review = review
        runs = [run for run in review.runs if run.action is not RunAction.KEPT]
        self._objects = [run.pair.object for run in runs]
        self.numbers = {one.path: index for index, one in enumerate(self._objects)}
        """The number of the details of a run, by its path."""

    def packed(self) -> str:
        """All details as text for the page."""
        longest = _LONGEST
        changes = self._changes()
        while True:
            text = packed(self._data(changes, longest))
            if len(text) <= _MAX_PACKED or longest < _SHORTEST:
                return text
            longest //= 4

    def _changes(self) -> Changes:
        known: Changes = {}
        for change in self._review.objects:
            known.setdefault(_owner(change.pair.object), []).append(change)
        return known

    def _data(self, changes: Changes, longest: int) -> dict[str, object]:
        jobs = sorted({job for one in self._objects if (job := job_file(one)) in self._review.sources})
        numbers = {path: index for index, path in enumerate(jobs)}
        return {
            "jobs": [self._file(path, self._review.sources[path], longest) for path in jobs],
            "runs": [
                {
                    "job": numbers.get(job_file(one), -1),
                    "objects": [self._file(other.path, _text(other), longest) for other in _with(one, changes)],
                    "diff": [line[:longest] for line in _diff(one, changes)],
                }
                for one in self._objects
            ],
        }

    def _file(self, path: str, text: str, longest: int) -> dict[str, str]:
        more = len(text) - longest
        shown = f"{text[:longest]}\n… {more} more characters" if more > 0 else text
        links = self._review.links
        return {"path": sanitize(path), "url": links.file(path) if links is not None else "", "text": _visible(shown)}


def _text(one: RenderedObject) -> str:
    return without_secrets(one.text)


def _visible(text: str) -> str:
    return "\n".join(map(sanitize, text.split("\n")))


def _owner(one: RenderedObject) -> tuple[str, str]:
    return one.path.rpartition("/")[0], one.run


def _with(one: RenderedObject, changes: Changes) -> Iterator[RenderedObject]:
    """The object of a run, and other changed objects of the run."""
    yield one
    yield from (other for change in changes.get(_owner(one), ()) if (other := change.pair.object) is not one)


def _diff(one: RenderedObject, changes: Changes) -> Iterator[str]:
    for change in changes.get(_owner(one), ()):
        if change.fields:
            yield f"@ {sanitize(str(change.pair.object.key))}"
            for field in fold_roles(change.fields):
                yield from field_lines(field)
