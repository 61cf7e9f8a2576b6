"""A plan as a page for reviewers: `templates/plan/page.html.j2`, one file without requests.

It has the four numbers of the summary as tiles, runs as cards, bars of amounts, and findings with the lines of files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from rich.cells import cell_len

from gen.base import Diagnostic
from gen.overlay.costs import money
from gen.report.findings.full import Excerpt, excerpt
from gen.report.plan.cards import MAX_KEPT, Details, card_sections, kept_cards
from gen.report.plan.phrases import hours_phrase
from gen.report.plan.sentences import LOST
from gen.report.plan.view import plan_view
from gen.report.templates import Phrase, page
from gen.review.result import Review

if TYPE_CHECKING:
    from gen.live.plan_facts import LiveFacts

_STYLES: Final = ("page/base.css", "plan/page.css")
_SCRIPTS: Final = ("page/base.js", "plan/page.js")
MAX_NAMES: Final = 50
"""Names of one group of equal differences."""
MAX_FINDINGS: Final = 500
MAX_SENTENCES: Final = 100
_LINE_WIDTH: Final = 110
"""Columns of these lines."""
_AROUND: Final = 1
"""Lines that are shown before and after that of a finding."""
WIDTH: Final = 1000
"""Width of the longest bar."""
_FAR: Final = 3
"""A limit above this multiple of the largest amount is drawn as an arrow at the end of the scale."""
_ALL_QUEUES: Final = "all queues"


def as_html(review: Review, live: LiveFacts | None = None) -> str:
    details = Details(review)
    plan = plan_view(review, live)
    sections = tuple(card_sections(review, details.numbers, plan.sentences))
    links = review.links
    values = {
        "plan": plan,
        "head_commit": links.head[:10] if links is not None else "",
        "head_url": links.commit(links.head) if links is not None else "",
        "base_url": links.commit(review.base.commit) if links is not None else "",
        "sections": sections,
        "kept": kept_cards(review),
        "kept_count": review.kept,
        "kept_limit": MAX_KEPT,
        "findings": findings(review),
        "usage": usage_bars(review),
        "devices": device_bars(review),
        "costs": cost_bars(review),
        "data_lost": any(finding.code in LOST for finding in review.findings),
        "data_kept": sum(data.action.value == "kept" for data in review.data),
        "overlays": sorted({name for section in sections for card in section.cards for name in card.overlays}),
        "namespaces": sorted({card.namespace for section in sections for card in section.cards}),
        "names_limit": MAX_NAMES,
        "sentences_limit": MAX_SENTENCES,
        "details": details.packed(),
    }
    return page("plan/page.html.j2", _STYLES, _SCRIPTS, values)


class Line(Struct, frozen=True, kw_only=True):
    """A line of a file, with the marked part."""

    number: int
    before: str
    mark: str
    after: str


class FindingView(Struct, frozen=True, kw_only=True):
    severity: Phrase
    code: str
    page: str
    """Address of the explanation; empty without a published documentation."""
    place: str
    url: str
    """Empty without a web address."""
    message: str
    hint: str
    lines: tuple[Line, ...]


def findings(review: Review) -> tuple[FindingView, ...]:
    """The findings, errors first."""
    ordered = sorted(review.findings, key=lambda finding: finding.severity.value != "error")
    texts = {change.pair.object.path: change.pair.object.text for change in review.objects} | dict(review.sources)
    return tuple(_finding(one, review, texts) for one in ordered[:MAX_FINDINGS])


def _finding(one: Diagnostic, review: Review, texts: dict[str, str]) -> FindingView:
    place, links = one.place, review.links
    return FindingView(
        severity=Phrase(one.severity.value),
        code=one.code,
        page=review.explanations.get(one.code, ""),
        place=str(place),
        url=links.file(place.file, place.line) if links is not None else "",
        message=one.message,
        hint=one.hint,
        lines=tuple(_lines(one, texts.get(place.file, "").split("\n"))),
    )


def _lines(one: Diagnostic, lines: list[str]) -> Iterator[Line]:
    """The line of a finding and its neighbors, without lines that could show a secret."""
    place = one.place
    if place.line == 1 and place.column == 1:  # about the file as a whole
        return
    for number in range(max(place.line - _AROUND, 1), place.line + _AROUND + 1):
        here = type(place)(place.file, number, place.column if number == place.line else 1)
        found: Excerpt | None = excerpt(lines, here, _LINE_WIDTH)
        if found is not None:
            text = found.text
            start, end = _at(text, found.start), _at(text, found.start + found.length)
            if number != place.line:
                start = end = len(text)
            yield Line(number=number, before=text[:start], mark=text[start:end], after=text[end:])


def _at(text: str, column: int) -> int:
    """The number of characters before a column: some characters take two."""
    return next((index for index in range(len(text)) if cell_len(text[:index]) >= column), len(text))


class Bar(Struct, frozen=True, kw_only=True):
    """A row of a chart: amounts before and after, and their limit, as widths up to `WIDTH`."""

    names: tuple[str, ...]
    before: int
    after: int
    limit: int
    """Below 0 without one."""
    beyond: bool
    """Whether the limit is beyond the scale."""
    over: bool
    """Whether the amount after the merge exceeds the limit."""
    changed: bool
    amount: Phrase
    limit_text: Phrase
    more: Phrase


class _Row(Struct, frozen=True):
    names: tuple[str, ...]
    before: int
    after: int
    limit: int | None
    amount: str
    limit_text: str
    more: str = ""


def usage_bars(review: Review) -> list[Bar]:
    """GPUs by namespace and queue. A namespace with several queues has a row of its own, which has the quota."""
    rows: list[_Row] = []
    queues = Counter((row.key.overlay, row.key.namespace) for row in review.usage)
    totals: set[tuple[str, str]] = set()
    for row in review.usage:
        place = row.key.overlay, row.key.namespace
        several = queues[place] > 1
        if several and place not in totals:
            totals.add(place)
            rows.append(_Row((*place, _ALL_QUEUES), *row.total, row.quota, *_counts(*row.total, row.quota)))
        gpus = row.before.gpus, row.after.gpus
        amount, limit = _counts(*gpus, row.quota)
        hours = f"{hours_phrase(row.before)} → {hours_phrase(row.after)}"
        quota = None if several else row.quota
        rows.append(_Row((*place, row.key.queue), *gpus, quota, amount, "" if several else limit, hours))
    return _bars(rows)


def device_bars(review: Review) -> list[Bar]:
    """GPUs by accelerator, for accelerators with a name."""
    return _bars(
        _Row(
            (row.overlay, row.namespace, row.accelerator),
            *(row.before, row.after, row.quota),
            *_counts(row.before, row.after, row.quota),
        )
        for row in review.devices
        if row.accelerator
    )


def cost_bars(review: Review) -> list[Bar]:
    """Costs in a month by namespace. Amounts in several currencies have the same scale."""
    return _bars(
        _Row(
            (row.overlay, row.namespace),
            *(row.before.month, row.after.month, row.budget),
            f"{money(row.before.month)} → {money(row.after.month)} {row.currency}",
            "none" if row.budget is None else f"{money(row.budget)} {row.currency}",
        )
        for row in review.costs
    )


def _counts(before: int, after: int, limit: int | None) -> tuple[str, str]:
    return f"{before:,} → {after:,}", "none" if limit is None else f"{limit:,}"


def _bars(rows: Iterable[_Row]) -> list[Bar]:
    known = list(rows)
    most = max((max(row.before, row.after) for row in known), default=0)
    near = [row.limit for row in known if row.limit is not None and row.limit <= _FAR * most]
    scale = max([most, *near, 1])
    return [
        Bar(
            names=row.names,
            before=row.before * WIDTH // scale,
            after=row.after * WIDTH // scale,
            limit=-1 if row.limit is None else min(row.limit, scale) * WIDTH // scale,
            beyond=row.limit is not None and row.limit > scale,
            over=row.limit is not None and row.after > row.limit,
            changed=row.before != row.after,
            amount=Phrase(row.amount),
            limit_text=Phrase(row.limit_text),
            more=Phrase(row.more),
        )
        for row in known
    ]
