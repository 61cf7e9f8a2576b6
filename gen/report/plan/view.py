"""The view of a plan that text, Markdown and HTML share: every number and phrase is ready to print.

Fields of type `Phrase` were written by gen. All other text may come from job files or from files in `rendered/`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gen.diagnostics import counted
from gen.pins.lock import short_pin
from gen.quantity import money
from gen.report.plan.cost_phrases import ASSUMPTIONS
from gen.report.plan.differences import GroupView, behind_groups, difference_groups
from gen.report.plan.phrases import headline, hours_phrase, summary
from gen.report.plan.run_rows import RunSection, run_sections
from gen.report.templates import Phrase
from gen.review.data import DataAction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gen.diagnostics import Diagnostic
    from gen.review.costs import NamespaceCost
    from gen.review.devices import DeviceUsage
    from gen.review.pins import MovedPin
    from gen.review.review import Review
    from gen.review.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class DataView:
    """A volume or claim that is added, changed or removed."""

    action: Phrase
    overlay: str
    object: str
    """`Kind namespace/name`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageView:
    """GPUs of the active runs in one namespace and queue, before and after."""

    overlay: str
    namespace: str
    queue: str
    """Empty without a queue."""
    gpus: Phrase
    limit: Phrase
    hours: Phrase


@dataclass(frozen=True, slots=True, kw_only=True)
class CostView:
    """Most that the active runs of a namespace cost in a month, before and after."""

    overlay: str
    namespace: str
    month: Phrase
    budget: Phrase
    unbounded: tuple[str, ...]
    """Names of runs without a time limit, which count for the whole month."""
    unpriced: tuple[str, ...]
    """Devices that are not counted, because they have no price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PinView:
    """A pin that moves."""

    name: str
    """Image with its tag, or URL."""
    before: str
    after: str
    """Digests or commits, with their first digits."""
    link: str
    objects: Phrase


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanView:
    """A plan, ready to print."""

    refused: bool
    headline: Phrase
    base_ref: str
    base_commit: str
    summary: tuple[tuple[Phrase, Phrase], ...]
    """Title and text of each row."""
    findings: tuple[Diagnostic, ...]
    runs: tuple[RunSection, ...]
    data: tuple[DataView, ...]
    usage: tuple[UsageView, ...]
    costs: tuple[CostView, ...]
    """Of namespaces whose costs change, or that are over their budget."""
    unbounded: tuple[str, ...]
    """Names of starting runs without a time limit, in overlays with prices."""
    pins: tuple[PinView, ...]
    """Images and code that get other content by the same tag or ref."""
    groups: tuple[GroupView, ...]
    """Objects that differ, grouped by equal differences."""
    behind: tuple[GroupView, ...]
    """Objects of kept runs and what new runs would change in them, grouped by equal differences."""

    @property
    def assumptions(self) -> tuple[Phrase, ...]:
        """What the costs mean; empty without any."""
        priced = self.costs or any(run.cost for section in self.runs for run in section.runs)
        return ASSUMPTIONS if priced else ()

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


def plan_view(review: Review) -> PlanView:
    return PlanView(
        refused=review.refused,
        headline=headline(review),
        base_ref=review.base.ref,
        base_commit=review.base.commit[:10],
        summary=tuple(summary(review)),
        findings=review.findings,
        runs=tuple(run_sections(review)),
        data=tuple(_data(review)),
        usage=tuple(_usage(row, review.devices) for row in review.usage if row.before != row.after),
        costs=tuple(map(_cost, changed_costs(review))),
        unbounded=review.bill.unbounded if review.bill is not None else (),
        pins=tuple(map(_pin, review.pins)),
        groups=tuple(difference_groups(review)),
        behind=tuple(behind_groups(review)),
    )


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
    limits = [str(row.quota)] if row.quota is not None else []
    limits += [f"{one.quota} {one.accelerator}" for one in own]
    return UsageView(
        overlay=row.key.overlay,
        namespace=row.key.namespace,
        queue=row.key.queue,
        gpus=Phrase(f"{row.before.gpus} → {row.after.gpus}"),
        limit=Phrase(", ".join(limits) or "none"),
        hours=Phrase(f"{hours_phrase(row.before)} → {hours_phrase(row.after)}"),
    )


def changed_costs(review: Review) -> Iterator[NamespaceCost]:
    """The namespaces whose costs a merge changes, or that are over their budget."""
    return (row for row in review.costs if row.before != row.after or (row.budget or row.after.month) < row.after.month)


def _cost(row: NamespaceCost) -> CostView:
    return CostView(
        overlay=row.overlay,
        namespace=row.namespace,
        month=Phrase(f"{money(row.before.month)} → {money(row.after.month)} {row.currency}"),
        budget=Phrase("none" if row.budget is None else f"{money(row.budget)} {row.currency}"),
        unbounded=row.after.unbounded,
        unpriced=tuple(name or "undeclared devices" for name in sorted(row.after.unpriced)),
    )
