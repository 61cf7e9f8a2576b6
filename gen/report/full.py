"""Findings with the lines that they are about, for people: in colors and with links if the screen has them."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Final

from gen.findings.imports import NEEDS_SECRET
from gen.findings.jobs import SECRET_VALUE
from gen.report.excerpt import excerpt
from gen.report.sanitize import sanitize
from gen.report.screen import MIN_WIDTH, Screen
from gen.report.text import change_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gen.diagnostics import Diagnostic, Location
    from gen.report.report import Report

    Lines = Callable[[str], list[str]]

_HIDDEN: Final = frozenset({SECRET_VALUE.name, NEEDS_SECRET.name})
"""Findings whose lines are not shown, because they contain a secret."""
_FEW: Final = 3
"""Findings that need no summary."""


def no_lines(_file: str) -> list[str]:
    return []


def full(report: Report, screen: Screen | None = None, lines: Lines = no_lines) -> str:
    """`lines` returns those of a file in a finding, or none."""
    screen = screen or Screen()
    parts = [*_findings(report, screen, lines), *_changes(report, screen), *_summary(report, screen)]
    return "".join(f"{line}\n" for line in parts)


def _findings(report: Report, screen: Screen, lines: Lines) -> Iterator[str]:
    for finding in report.findings:
        yield from _finding(finding, screen, lines)
        yield ""


def _finding(finding: Diagnostic, screen: Screen, lines: Lines) -> Iterator[str]:
    title = f"{finding.severity.value}[{finding.code}]"
    first, *more = _wrapped(f"{title}: {finding.message}", screen, "  ")
    yield screen.styled(first[: len(title)], finding.severity.value) + screen.styled(first[len(title) :], "bold")
    yield from (screen.styled(line, "bold") for line in more)
    places = [(finding.place, ""), *finding.related]
    gutter = max(len(str(place.line)) for place, _ in places)
    for place, label in places:
        yield from _place(place, label, finding, gutter, screen, lines)
    if finding.hint:
        mark = f"{' ' * gutter} {screen.styled('=', 'frame')} {screen.styled('help', 'help')}: "
        indent = " " * (gutter + len(" = help: "))
        first, *more = _wrapped(finding.hint, screen, "", len(indent))
        yield mark + first
        yield from (indent + line for line in more)


def _place(
    place: Location, label: str, finding: Diagnostic, gutter: int, screen: Screen, lines: Lines
) -> Iterator[str]:
    arrow = screen.styled(":::" if label else "-->", "frame")
    yield f"{' ' * gutter}{arrow} {screen.linked(sanitize(str(place)), place.file)}"
    shown = excerpt(lines(place.file), place, screen.width - gutter - 3) if finding.code not in _HIDDEN else None
    bar = screen.styled("|", "frame")
    if shown is None:
        if label:
            yield f"{' ' * gutter} {bar} {sanitize(label)}"
        return
    yield f"{' ' * gutter} {bar}"
    yield f"{screen.styled(str(place.line).rjust(gutter), 'frame')} {bar} {shown.text}"
    mark = screen.styled(("-" if label else "^") * shown.length, "frame" if label else finding.severity.value)
    yield f"{' ' * gutter} {bar} {' ' * shown.start}{mark}{f' {sanitize(label)}' if label else ''}"


def _wrapped(text: str, screen: Screen, indent: str, used: int = 0) -> list[str]:
    width = max(screen.width - used, MIN_WIDTH // 2)
    options = {"break_long_words": False, "break_on_hyphens": False}
    return textwrap.wrap(sanitize(text), width, subsequent_indent=indent, **options) or [""]  # type: ignore[arg-type]


def _changes(report: Report, screen: Screen) -> Iterator[str]:
    for line in change_lines(report):
        style = {"-": "removed", "+": "added", "@": "frame"}.get(line[:1])
        yield screen.styled(line, style) if style is not None else line


def _summary(report: Report, screen: Screen) -> Iterator[str]:
    if len(report.findings) > _FEW:
        counts = Counter(finding.code for finding in report.findings)
        by_code = ", ".join(f"{number} {code}" for code, number in counts.most_common())
        yield from textwrap.wrap(f"Findings: {by_code}", screen.width, subsequent_indent="  ", break_on_hyphens=False)
    for line in report.summary.split("\n"):
        yield screen.styled(sanitize(line), "bold")
