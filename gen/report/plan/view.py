"""The view of a plan that text, Markdown and HTML share: every number and phrase is ready to print.

Fields of type `Phrase` were written by gen. All other text may come from job files or from files in `rendered/`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from gen.base import Diagnostic, counted
from gen.kubernetes.facts.demand import StepDemand
from gen.kubernetes.objects import qualified
from gen.overlay.costs import money
from gen.pins.lock import short_pin
from gen.report.diff import GroupView, behind_groups, difference_groups
from gen.report.plan import phrases
from gen.report.plan.phrases import Row
from gen.report.plan.sentences import Sentence, SentencePart, live_sentences, sentences
from gen.report.templates import Phrase
from gen.review.data import DataAction
from gen.review.field_changes import MovedPin
from gen.review.gpus_and_costs import DeviceUsage, NamespaceCost, Usage
from gen.review.result import Review
from gen.review.runs import RunAction, RunChange

if TYPE_CHECKING:
    from gen.live.plan_facts import LiveFacts

_DEEPEST = 16
"""Maximum depth of the indentation of steps."""


class RunView(Struct, frozen=True, kw_only=True):
    """A run that starts, stops or changes, or all runs of a job with the same effect."""

    overlays: tuple[str, ...]
    name: str
    """`namespace/name`."""
    kind: str
    pods: Phrase
    gpus: Phrase
    hours: Phrase
    """GPU-hours at most; empty without GPUs."""
    cost: Phrase
    """Empty without prices."""
    notes: tuple[SentencePart, ...]
    """Its state, the run that it replaces, its queue, and whether its pods may stop others."""
    values: tuple[str, ...] = ()
    """Runs of a sweep or of several overlays are one row. For a pipeline, its steps."""


class RunSection(Struct, frozen=True, kw_only=True):
    """Runs with the same action."""

    title: Phrase
    runs: tuple[RunView, ...]


class DataView(Struct, frozen=True, kw_only=True):
    """A volume or claim that is added, changed or removed."""

    action: Phrase
    overlay: str
    object: str
    """`Kind namespace/name`."""


class UsageView(Struct, frozen=True, kw_only=True):
    """GPUs of the active runs in one namespace and queue, before and after."""

    overlay: str
    namespace: str
    queue: str
    """Empty without a queue."""
    gpus: Phrase
    quota: Phrase
    """Total use of the namespace after the merge, over all queues, of its quotas: `95 of 100, 8 of 16 h100`."""
    hours: Phrase


class CostView(Struct, frozen=True, kw_only=True):
    """Maximum monthly cost of the active runs of a namespace, before and after."""

    overlay: str
    namespace: str
    month: Phrase
    budget: Phrase
    unbounded: tuple[str, ...]
    """Names of runs without a time limit, which count for the whole month."""
    unpriced: tuple[str, ...]
    """Devices that are not counted, because they have no price."""


class PinView(Struct, frozen=True, kw_only=True):
    """A moved pin."""

    name: str
    """Image with its tag, or URL."""
    before: str
    after: str
    """Digests or commits, with their first digits."""
    link: str
    objects: Phrase


class PermissionView(Struct, frozen=True, kw_only=True):
    """A permission that pods get by the merge."""

    what: str
    runs: tuple[str, ...]
    """`overlay namespace/name` of each."""


class PlanView(Struct, frozen=True, kw_only=True):
    """A plan, ready to print."""

    refused: bool
    outcome: Phrase
    headline: Phrase
    sentences: tuple[Sentence, ...]
    """The changes, the most important one first."""
    live: tuple[Sentence, ...]
    """Facts from the clusters, if they are asked."""
    missing: tuple[str, ...]
    """Questions that they did not answer."""
    base_ref: str
    base_commit: str
    others: tuple[str, ...]
    """Changed paths that are neither jobs nor rendered files."""
    tree: str
    summary: tuple[Row, ...]
    notes: tuple[Phrase, ...]
    """Footnotes of the summary."""
    findings: tuple[Diagnostic, ...]
    runs: tuple[RunSection, ...]
    permissions: tuple[PermissionView, ...]
    data: tuple[DataView, ...]
    usage: tuple[UsageView, ...]
    costs: tuple[CostView, ...]
    """Namespaces with a change of their costs, or over their budget."""
    unbounded: tuple[str, ...]
    """Names of starting runs without a time limit, in overlays with prices."""
    pins: tuple[PinView, ...]
    """Images and code with other content under the same tag or ref."""
    groups: tuple[GroupView, ...]
    """Objects that differ, grouped by equal differences."""
    behind: tuple[GroupView, ...]
    """Objects of kept runs and what new runs would change in them, grouped by equal differences."""

    @property
    def assumptions(self) -> tuple[Phrase, ...]:
        """Explanations of costs; empty without costs."""
        priced = self.costs or any(run.cost for section in self.runs for run in section.runs)
        return phrases.ASSUMPTIONS if priced else ()

    @property
    def passes(self) -> bool:
        """Whether it may be merged."""
        return self.outcome == phrases.PASSES

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(finding for finding in self.findings if finding.is_error)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Codes of the errors, each once."""
        return tuple(dict.fromkeys(finding.code for finding in self.errors))

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return tuple(finding for finding in self.findings if finding.severity.value != "error")


def plan_view(review: Review, live: LiveFacts | None = None) -> PlanView:
    return PlanView(
        refused=review.refused,
        outcome=phrases.outcome(review),
        headline=phrases.headline(review, live),
        sentences=sentences(review, live),
        live=live_sentences(live) if live is not None else (),
        missing=live.missing if live is not None else (),
        base_ref=review.base.ref,
        base_commit=review.base.commit[:10],
        others=review.others,
        tree=review.tree,
        summary=phrases.summary(review),
        notes=tuple(phrases.footnotes(review, live)),
        findings=review.findings,
        runs=tuple(run_sections(review)),
        permissions=tuple(_permissions(review)),
        data=tuple(_data(review)),
        usage=tuple(_usage(row, review.devices) for row in review.usage if row.before != row.after),
        costs=tuple(_cost(row) for row in review.costs if row.before != row.after or row.over_budget),
        unbounded=review.bill.unbounded if review.bill is not None else (),
        pins=tuple(map(_pin, review.pins)),
        groups=tuple(difference_groups(review)),
        behind=tuple(behind_groups(review)),
    )


def _permissions(review: Review) -> Iterator[PermissionView]:
    for (what, value), runs in review.permissions.items():
        names = tuple(f"{key.scope} {qualified(key.namespace, key.name)}" for key in runs)
        yield PermissionView(what=f"{what} {value}".rstrip(), runs=names)


def _data(review: Review) -> Iterator[DataView]:
    for data in review.data:
        if data.action is not DataAction.KEPT:
            key = data.pair.object.key
            yield DataView(action=Phrase(data.action.value), overlay=key.scope, object=str(key))


def _pin(pin: MovedPin) -> PinView:
    return PinView(
        name=pin.name,
        before=short_pin(pin.before),
        after=short_pin(pin.after),
        link=pin.link,
        objects=Phrase(counted(pin.objects, "object")),
    )


def _usage(row: Usage, devices: Iterable[DeviceUsage]) -> UsageView:
    place = row.key.overlay, row.key.namespace
    own = (one for one in devices if (one.overlay, one.namespace) == place and one.quota is not None)
    quotas = [f"{row.total[1]:,} of {row.quota:,}"] if row.quota is not None else []
    quotas += [f"{one.after:,} of {one.quota:,} {one.accelerator}" for one in own]
    return UsageView(
        overlay=row.key.overlay,
        namespace=row.key.namespace,
        queue=row.key.queue,
        gpus=Phrase(f"{row.before.gpus:,} → {row.after.gpus:,}"),
        quota=Phrase(", ".join(quotas) or "none"),
        hours=Phrase(f"{phrases.hours_phrase(row.before)} → {phrases.hours_phrase(row.after)}"),
    )


def _cost(row: NamespaceCost) -> CostView:
    return CostView(
        overlay=row.overlay,
        namespace=row.namespace,
        month=Phrase(f"{money(row.before.month)} → {money(row.after.month)} {row.currency}"),
        budget=Phrase("none" if row.budget is None else f"{money(row.budget)} {row.currency}"),
        unbounded=row.after.unbounded,
        unpriced=tuple(name or "undeclared devices" for name in sorted(row.after.unpriced)),
    )


def runs_by_action(review: Review) -> list[tuple[RunAction, list[RunChange]]]:
    """Runs that a merge affects, in the order of the sections of a plan."""
    by_action: dict[RunAction, list[RunChange]] = {action: [] for action in phrases.RUN_SECTIONS}
    for run in review.runs:
        if (action := run.action) in by_action:
            by_action[action].append(run)
    return [(action, runs) for action, runs in by_action.items() if runs]


def run_sections(review: Review) -> Iterator[RunSection]:
    for action, runs in runs_by_action(review):
        title = Phrase(f"{phrases.RUN_SECTIONS[action]} ({len(runs):,})")
        yield RunSection(title=title, runs=tuple(map(_row, run_groups(runs))))


def run_groups(runs: Iterable[RunChange]) -> list[list[RunChange]]:
    """The runs of each job with equal kinds, queues and states, in all overlays; the most expensive first."""

    def size(group: Sequence[RunChange]) -> tuple[int, int, int]:
        latest = [run.latest for run in group]
        cost = sum(one.cost.month for one in latest if one.cost is not None)
        return -cost, -sum(one.demand.gpus for one in latest), -sum(one.demand.pods for one in latest)

    groups: dict[tuple[object, ...], list[RunChange]] = {}
    for run in runs:
        key = run.key
        groups.setdefault((key.namespace, run.job, key.kind, run.latest.queue, run.latest.state), []).append(run)
    return sorted(groups.values(), key=size)


def _row(runs: Sequence[RunChange]) -> RunView:
    first, versions, alone = runs[0], [run.latest for run in runs], len(runs) == 1
    return RunView(
        overlays=tuple(dict.fromkeys(run.key.scope for run in runs)),
        name=f"{first.key.namespace}/{first.key.name if alone else first.job}",
        kind=first.key.kind,
        pods=Phrase(f"{sum(one.demand.pods for one in versions):,}"),
        gpus=Phrase(f"{sum(one.demand.gpus for one in versions):,}"),
        hours=phrases.run_hours(versions),
        cost=phrases.cost_phrase(first.latest) if alone else phrases.costs_phrase(versions),
        notes=tuple(_notes(runs)),
        values=tuple(map(_step, first.latest.steps)) if alone else tuple(sorted(branch_names(runs))),
    )


def _notes(runs: Sequence[RunChange]) -> Iterator[SentencePart]:
    first = runs[0]
    if state := phrases.state_phrase(first):
        yield SentencePart(phrase=state, value="")
    if first.replaces and len(runs) == 1:
        yield SentencePart(phrase=Phrase("replaces "), value=first.replaces)
    if first.continues and len(runs) == 1:
        yield SentencePart(phrase=Phrase("continues from "), value=first.continues)
    if over := sum(run.starts_over for run in runs):
        which = "" if over == len(runs) else f"{over} of {len(runs)} start "
        yield SentencePart(phrase=Phrase(f"{which}from zero, although an earlier run has checkpoints"), value="")
    if first.latest.queue:
        yield SentencePart(phrase=Phrase("queue "), value=first.latest.queue)
    if classes := phrases.preempting(runs):
        yield SentencePart(phrase=Phrase("may preempt pods below priority "), value=classes)


def branch_names(runs: Sequence[RunChange]) -> tuple[str, ...]:
    """A name for each run of a row: its values, or the overlay and the name of each."""
    several = len({run.key.scope for run in runs}) > 1
    return tuple(f"{run.key.scope} {_branch_name(run)}" if several else _branch_name(run) for run in runs)


def _branch_name(run: RunChange) -> str:
    if run.latest.values:
        return sweep_values(run)
    return f"{run.key.name} replaces {run.replaces}" if run.replaces else run.key.name


def sweep_values(run: RunChange) -> str:
    """`lr=0.1 seed=2`, or the name of a run without readable values."""
    values = phrases.values_of(run.latest.values)
    return " ".join(f"{name}={value}" for name, value in values.items()) if values else run.key.name


def _step(step: StepDemand) -> str:
    """Indented by the steps that it waits for."""
    return f"{'  ' * min(step.depth, _DEEPEST)}{step.name}: {step.kind}, {phrases.demand_phrase(step.demand)}"
