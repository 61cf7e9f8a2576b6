"""Findings with the lines that they are about, for people: in colors and with links if the terminal has them."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from rich.cells import cell_len

from gen.base import Diagnostic, Location, regex
from gen.base.codes.imports import NEEDS_SECRET
from gen.base.codes.jobs import SECRET_VALUE
from gen.kubernetes.secrets import known_secrets, shows_secret
from gen.report.escaping import sanitize
from gen.report.findings.text import change_lines, folded, folded_phrase, hidden_lines, shown_findings
from gen.report.terminal import DEFAULT_WIDTH, MIN_WIDTH, Terminal

if TYPE_CHECKING:
    from gen.report.formats import Report


_QUOTED: Final = regex(r"'(?:[^']|'')*'|\"(?:[^\"\\]|\\.)*\"")
_PLAIN: Final = regex(r"(?:(?!:(?:\s|$)|\s#|[,\[\]{}]).)+")
_LONG: Final = 1000
"""Characters of a longer line that are looked at."""
_NEAR: Final = 300
"""Of these, the ones before the place."""
_BEFORE: Final = 20
"""Columns of a long line that are shown before the value."""


class Excerpt(Struct, frozen=True):
    """One line, and the columns to mark."""

    text: str
    start: int
    """Columns before the marks."""
    length: int


def excerpt(lines: list[str], place: Location, width: int) -> Excerpt | None:
    """The line of a place in at most `width` columns. None if there is none, or if it could show a secret."""
    if not 0 < place.line <= len(lines):
        return None
    whole = lines[place.line - 1].rstrip("\r\n")
    skipped = max(place.column - 1 - _NEAR, 0) if len(whole) > _LONG else 0
    line = whole[skipped : skipped + _LONG]
    if not line.strip() or _has_secret(line, lines, place.line - 1, skipped):
        return None
    begin = min(max(place.column - 1 - skipped, 0), len(line))
    end = begin + max(_length(line[begin:]), 1)
    first = 0 if not skipped and cell_len(line) <= width else max(begin - _BEFORE, 0)
    before = ("…" if first else "") + _shown(line[first:begin])
    value, after = _shown(line[begin:end]), _shown(line[end:])
    text = _cut(before + value + after, width)
    start = cell_len(before)
    return Excerpt(text, start, max(min(cell_len(value), cell_len(text) - start), 1))


def _length(rest: str) -> int:
    """Characters of the value or the key that a text begins with."""
    if rest[:1] in {"'", '"'}:
        quoted = _QUOTED.match(rest)
        return quoted.end() if quoted is not None else len(rest)
    plain = _PLAIN.match(rest)
    return len(plain[0].rstrip()) if plain is not None else 1


def _shown(text: str) -> str:
    return sanitize(text.replace("\t", " "))


def _cut(text: str, width: int) -> str:
    if cell_len(text) <= width:
        return text
    while cell_len(text) > width - 1:
        text = text[:-1]
    return text + "…"


def _has_secret(shown: str, lines: list[str], index: int, skipped: int) -> bool:
    """Whether a line shows a secret, possibly as the value of a name in the previous line."""
    if any(True for _ in known_secrets([lines[index]])):
        return True
    if skipped:
        return shows_secret(lines[index][max(skipped - _LONG, 0) : skipped] + shown)
    return shows_secret(shown, f"{lines[index - 1][-_LONG:]}\n" if index else "")


Lines = Callable[[str], list[str]]

_HIDDEN: Final = frozenset({SECRET_VALUE.name, NEEDS_SECRET.name, "literal-secret"})
"""Findings about secrets: their lines are not shown."""
_MAX_WIDTH: Final = 120
"""Longer lines are hard to read."""
_FEW: Final = 3
"""Maximum number of findings without a summary."""


def full(report: Report, terminal: Terminal | None = None, lines: Lines = lambda _: []) -> str:
    """`lines` returns those of a file in a finding, or none."""
    terminal = terminal or Terminal()
    parts = [*_findings(report, terminal, lines), *_changes(report, terminal), *_summary(report, terminal)]
    return "".join(f"{line}\n" for line in parts)


def _findings(report: Report, terminal: Terminal, lines: Lines) -> Iterator[str]:
    for finding, more in folded(shown_findings(report)):
        url = report.documentation.finding(finding.code) if terminal.links else ""
        yield from _finding(finding, terminal, lines, url)
        if more:
            yield from _wrapped(f"  {folded_phrase(finding, more, len(more))}", terminal, "  ")
        yield ""
    yield from _explained(report, terminal)


def _finding(finding: Diagnostic, terminal: Terminal, lines: Lines, url: str) -> Iterator[str]:
    title = f"{finding.severity.value}[{finding.code}]"
    first, *more = _wrapped(f"{title}: {finding.message}", terminal, "  ")
    linked = f"{finding.severity.value}[{terminal.link(sanitize(finding.code), url)}]"
    yield terminal.styled(linked, finding.severity.value) + terminal.styled(first[len(title) :], "bold")
    yield from (terminal.styled(line, "bold") for line in more)
    places = [(finding.place, ""), *finding.related]
    gutter = max(len(str(place.line)) for place, _ in places)
    for place, label in places:
        yield from _place(place, label, finding, gutter, terminal, lines)
    if finding.hint:
        mark = f"{' ' * gutter} {terminal.styled('=', 'frame')} {terminal.styled('help', 'help')}: "
        indent = " " * (gutter + len(" = help: "))
        first, *more = _wrapped(finding.hint, terminal, "", len(indent))
        yield mark + first
        yield from (indent + line for line in more)


def _place(
    place: Location, label: str, finding: Diagnostic, gutter: int, terminal: Terminal, lines: Lines
) -> Iterator[str]:
    arrow = terminal.styled(":::" if label else "-->", "frame")
    yield f"{' ' * gutter}{arrow} {terminal.file_link(sanitize(str(place)), place.file)}"
    shown = excerpt(lines(place.file), place, _width(terminal) - gutter - 3) if finding.code not in _HIDDEN else None
    bar = terminal.styled("|", "frame")
    if shown is None:
        if label:
            yield f"{' ' * gutter} {bar} {sanitize(label)}"
        return
    yield f"{' ' * gutter} {bar}"
    yield f"{terminal.styled(str(place.line).rjust(gutter), 'frame')} {bar} {shown.text}"
    mark = terminal.styled(("-" if label else "^") * shown.length, "frame" if label else finding.severity.value)
    yield f"{' ' * gutter} {bar} {' ' * shown.start}{mark}{f' {sanitize(label)}' if label else ''}"


def _width(terminal: Terminal) -> int:
    return max(min(terminal.width or DEFAULT_WIDTH, _MAX_WIDTH), MIN_WIDTH)


def _wrapped(text: str, terminal: Terminal, indent: str, used: int = 0) -> list[str]:
    width = max(_width(terminal) - used, MIN_WIDTH // 2)
    lines = textwrap.wrap(
        sanitize(text), width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return lines or [""]


def _changes(report: Report, terminal: Terminal) -> Iterator[str]:
    for line in change_lines(report):
        style = {"-": "removed", "+": "added", "@": "frame"}.get(line[:1])
        yield terminal.styled(line, style) if style is not None else line


def _summary(report: Report, terminal: Terminal) -> Iterator[str]:
    if len(report.findings) > _FEW:
        counts = Counter(finding.code for finding in report.findings)
        by_code = ", ".join(f"{number} {code}" for code, number in counts.most_common())
        yield from textwrap.wrap(
            f"Findings: {by_code}", _width(terminal), subsequent_indent="  ", break_on_hyphens=False
        )
    yield from hidden_lines(report)
    for line in report.summary.split("\n"):
        lines = [sanitize(line)] if line.startswith(" ") else _wrapped(line, terminal, "  ")  # not those of YAML
        yield from (terminal.styled(part, "bold") for part in lines)


def _explained(report: Report, terminal: Terminal) -> Iterator[str]:
    """The command that explains the findings, unless their codes are links."""
    codes = {finding.code: None for finding in shown_findings(report)}
    if not codes or (terminal.links and report.documentation.site):
        return
    command = f"`gen explain {next(iter(codes))}`"
    about = f"{command} explains it" if len(codes) == 1 else f"`gen explain CODE` explains a finding, such as {command}"
    yield from _wrapped(about, terminal, "  ")
