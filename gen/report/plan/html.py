"""A plan as a page for reviewers: `templates/plan/page.html.j2`, one file without requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.findings.rendered import DATA_REMOVED, DATA_RENAMED, DATA_SHRUNK, DATA_UNPROTECTED, IMMUTABLE_STORAGE
from gen.report.page import page
from gen.report.plan.bars import cost_bars, device_bars, usage_bars
from gen.report.plan.cards import MAX_KEPT, card_sections, kept_cards
from gen.report.plan.details import Details
from gen.report.plan.marked import findings
from gen.report.plan.tiles import tiles
from gen.report.plan.view import plan_view

if TYPE_CHECKING:
    from gen.review.review import Review

_LOST: Final = {code.name for code in (DATA_REMOVED, DATA_RENAMED, DATA_SHRUNK, DATA_UNPROTECTED, IMMUTABLE_STORAGE)}
_STYLES: Final = ("page/base.css", "plan/page.css")
_SCRIPTS: Final = ("page/base.js", "plan/page.js")
MAX_NAMES: Final = 50
"""Names of one group of equal differences."""


def as_html(review: Review) -> str:
    details = Details(review)
    sections = tuple(card_sections(review, details.numbers))
    links = review.links
    values = {
        "plan": plan_view(review),
        "head_commit": links.head[:10] if links is not None else "",
        "head_url": links.commit(links.head) if links is not None else "",
        "base_url": links.commit(review.base.commit) if links is not None else "",
        "tiles": tuple(tiles(review)),
        "sections": sections,
        "kept": kept_cards(review),
        "kept_count": review.kept,
        "kept_limit": MAX_KEPT,
        "findings": findings(review),
        "usage": usage_bars(review),
        "devices": device_bars(review),
        "costs": cost_bars(review),
        "data_lost": any(finding.code in _LOST for finding in review.findings),
        "data_kept": sum(data.action.value == "kept" for data in review.data),
        "overlays": sorted({card.overlay for section in sections for card in section.cards}),
        "namespaces": sorted({card.namespace for section in sections for card in section.cards}),
        "names_limit": MAX_NAMES,
        "details": details.packed(),
    }
    return page("plan/page.html.j2", _STYLES, _SCRIPTS, values)
