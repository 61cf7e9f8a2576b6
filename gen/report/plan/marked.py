"""Findings of a plan with the lines that they are about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gen.report.excerpt import excerpt
from gen.report.templates import Phrase
from gen.report.terminal import columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Diagnostic
    from gen.report.excerpt import Excerpt
    from gen.review.review import Review

MAX_FINDINGS: Final = 500
_WIDTH: Final = 110
_AROUND: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a file, with the marked part."""

    number: int
    before: str
    mark: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingView:
    """A finding."""

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
    """The line of a finding and those around it, without lines that could show a secret."""
    place = one.place
    if place.line == 1 and place.column == 1:  # about the file as a whole
        return
    for number in range(max(place.line - _AROUND, 1), place.line + _AROUND + 1):
        here = type(place)(place.file, number, place.column if number == place.line else 1)
        found: Excerpt | None = excerpt(lines, here, _WIDTH)
        if found is not None:
            text = found.text
            start, end = _at(text, found.start), _at(text, found.start + found.length)
            if number != place.line:
                start = end = len(text)
            yield Line(number=number, before=text[:start], mark=text[start:end], after=text[end:])


def _at(text: str, column: int) -> int:
    """The number of characters before a column: some characters take two."""
    return next((index for index in range(len(text)) if columns(text[:index]) >= column), len(text))
