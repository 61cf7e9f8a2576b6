"""A plan as a comment on a pull request: `templates/plan/plan.md.j2`, cut to the size that a comment may have.

The template marks parts and their entries. If the comment would be too long, the last entries of its parts are
omitted, and the comment ends with their number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gen.report.escaping import code_link, code_span, diff_block, table_cell
from gen.report.plan.view import PlanView, plan_view
from gen.report.templates import Phrase, as_markup, environment
from gen.review.result import Review

if TYPE_CHECKING:
    from jinja2 import Template

    from gen.live.plan_facts import LiveFacts

MAX_LENGTH = 65_000
"""Characters; GitHub allows 65,536 in a comment, and CI may add a line of its own."""
_RESERVED = 1500
"""Characters for the list of omitted entries."""
MAX_NAMES = 20
"""Names that are printed of one group of objects."""
_ENTRY: Final = "\x1e"
_FOOT: Final = "\x1f"
"""Start of an entry, and end of the last one. `sanitize` removes control characters, so no value contains them."""


def as_markdown(review: Review, live: LiveFacts | None = None) -> str:
    return comment(plan_view(review, live), pages=review.explanations)


def comment(plan: PlanView, limit: int = MAX_LENGTH, pages: Mapping[str, str] | None = None) -> str:
    """The comment, with at most `limit` characters. `pages` explain findings, by code."""
    from markupsafe import Markup

    parts: list[_Part] = []

    def part(title: str, share: float, caller: Callable[[], str]) -> str:
        parts.append(_Part.parse(Phrase(title), share, str(caller())))
        return Markup()

    marks = {"entry": Markup(_ENTRY), "foot": Markup(_FOOT)}  # noqa: S704 - constants
    values = {"plan": plan, "part": part, "limit": MAX_NAMES, "pages": pages or {}}
    module: Any = _template().make_module({**values, **marks})
    top = str(module)
    fitted, omitted = _fit(parts, limit - _RESERVED - len(top))
    return top + fitted + (str(module.omitted(omitted)) if omitted else "")


@cache
def _template() -> Template:
    filters = {
        "code": as_markup(lambda value: code_span(str(value))),
        "explained": as_markup(lambda code, pages: code_link(code, pages.get(code, ""))),
        "diff": as_markup(diff_block),
        "counted": _counted,
        "sentence": lambda title: Phrase(title[:1].upper() + title[1:]),
    }
    return environment(table_cell, filters).get_template("plan/plan.md.j2")


def _counted(title: str, entries: Sized) -> Phrase:
    return Phrase(f"{title} ({len(entries)})")


class _Part(Struct, frozen=True):
    """A part of the comment that can lose its last entries."""

    title: Phrase
    share: float
    """Share of the remaining space that it may use while other parts need space."""
    head: str
    entries: Sequence[str]
    foot: str

    @classmethod
    def parse(cls, title: Phrase, share: float, text: str) -> _Part:
        body, _, foot = text.partition(_FOOT)
        head, *entries = body.split(_ENTRY)
        return cls(title, share, head, entries, foot)

    def fitted(self, space: int) -> tuple[str, int]:
        """As many entries as fit into the space, and the number of the omitted ones. Without any entry, no text."""
        space -= len(self.head) + len(self.foot)
        taken = 0
        for entry in self.entries:
            if len(entry) > space:
                break
            space -= len(entry)
            taken += 1
        text = self.head + "".join(self.entries[:taken]) + self.foot if taken else ""
        return text, len(self.entries) - taken


def _fit(parts: Sequence[_Part], space: int) -> tuple[str, list[tuple[int, Phrase]]]:
    """The text of all parts, and the number of entries that each part lost with the part's title."""
    texts: list[str] = []
    for part in parts:
        texts.append(part.fitted(int(space * part.share))[0])
        space -= len(texts[-1])
    omitted: list[tuple[int, Phrase]] = []
    for index, part in enumerate(parts):  # use the space that later parts did not need
        space += len(texts[index])
        texts[index], missing = part.fitted(space)
        space -= len(texts[index])
        omitted += [(missing, part.title)] if missing else []
    return "".join(texts), omitted
