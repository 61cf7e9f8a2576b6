"""Findings for a terminal: one line each with a location that editors can open, its remedy, and diffs of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from gen.base import Diagnostic, counted, regex
from gen.base.line_changes import unified
from gen.report.escaping import sanitize
from gen.report.terminal import Terminal, wrap_line

if TYPE_CHECKING:
    from gen.base.repository.files import Edit
    from gen.render.write.compare import Change
    from gen.report.formats import Report

_MANY = 4
"""Equal findings, from which on they are one."""
_FEW = 3
"""Places that one finding for several lists."""
_MAX_SUBJECTS = 20
"""Subjects of findings at one place that are listed."""
_SUBJECT = regex(r"`[^`]*`|[0-9]+")
"""Parts of messages that findings of one kind have differently."""
_MAX_PATHS = 40
"""Paths that are printed when changes are listed without a diff."""


def text(report: Report) -> str:
    return "".join(f"{line}\n" for line in _lines(report))


def shown_findings(report: Report) -> list[Diagnostic]:
    """All findings but the warnings about job files that did not change."""
    return [one for one in report.findings if one.is_error or one.place.file not in report.unchanged]


def hidden_lines(report: Report) -> Iterator[str]:
    if hidden := len(report.findings) - len(shown_findings(report)):
        yield f"{counted(hidden, 'warning')} about jobs that did not change; `gen check --all` shows them"


def folded(findings: Sequence[Diagnostic]) -> list[tuple[Diagnostic, tuple[Diagnostic, ...]]]:
    """Findings, each with those that say the same at other places, or the same of other subjects at its place."""
    groups: dict[tuple[object, ...], list[Diagnostic]] = {}
    for one in findings:
        groups.setdefault((one.severity, one.code, one.message, one.hint), []).append(one)
    single = [one for group in groups.values() if len(group) == 1 for one in group]
    at_place: dict[tuple[object, ...], list[Diagnostic]] = {}
    for one in single:
        same = _SUBJECT.sub("`", one.message), _SUBJECT.sub("`", one.hint)
        at_place.setdefault((one.severity, one.code, one.place, *same), []).append(one)
    first = {id(group[0]): tuple(group[1:]) for group in (*groups.values(), *at_place.values()) if len(group) >= _MANY}
    hidden = {id(one) for more in first.values() for one in more}
    return [(one, first.get(id(one), ())) for one in findings if id(one) not in hidden]


def folded_phrase(finding: Diagnostic, more: Sequence[Diagnostic], shown: int = _MAX_SUBJECTS) -> str:
    """`and 23 more like it, at a.yaml:1:1, b.yaml:1:1, …`, or with at most `shown` of their subjects."""
    if all(one.place == finding.place for one in more):
        subjects = list(dict.fromkeys(_subject(one, finding) for one in more))
        rest = ", …; `--output full` has them all" if len(subjects) > shown else ""
        return f"and {len(more)} more like it at this place: {', '.join(subjects[:shown])}{rest}"
    places = ", ".join(str(one.place) for one in more[:_FEW])
    return f"and {len(more)} more like it, at {places}{', …' if len(more) > _FEW else ''}"


def _subject(finding: Diagnostic, first: Diagnostic) -> str:
    """The names and numbers in a message that are not those of the first one."""
    pairs = zip(_SUBJECT.findall(finding.message), _SUBJECT.findall(first.message), strict=False)
    return " ".join(one for one, other in pairs if one != other) or finding.message


def concise(report: Report) -> str:
    """One line for each finding, without remedies."""
    lines = (next(finding_lines(finding)) for finding in report.findings)
    return "".join(f"{line}\n" for line in (*lines, *change_lines(report), *map(sanitize, report.summary.split("\n"))))


def _lines(report: Report) -> Iterator[str]:
    for finding, more in folded(shown_findings(report)):
        yield from finding_lines(finding)
        if more:
            yield sanitize(f"    {folded_phrase(finding, more)}")
    yield from change_lines(report)
    yield from hidden_lines(report)
    yield from map(sanitize, report.summary.split("\n"))


def change_lines(report: Report) -> Iterator[str]:
    """Changed files, with their diffs if they are asked for, after the diffs of fixes."""
    for edit in report.edits:
        yield from map(_without_secret, _diff(edit))
    listed = report.changes if report.diff else report.changes[:_MAX_PATHS]
    for change in listed:
        yield sanitize(f"{_done(change) if report.done else change.status.value:<12} {change.path}")
    if len(listed) < len(report.changes):
        yield f"… and {len(report.changes) - len(listed)} more"
    if report.diff:
        for change in report.changes:
            yield from _diff(change)
    elif report.changes and not report.done:
        yield "`gen check --diff` shows the lines that differ"


def wrapped_findings(findings: Iterable[Diagnostic], terminal: Terminal) -> Iterator[str]:
    """The lines of findings below a table."""
    for finding in findings:
        for line in finding_lines(finding):
            yield from wrap_line(line, terminal)


def _done(change: Change) -> str:
    return "wrote" if change.status == "missing" else "removed" if change.removes else "changed"


def finding_lines(finding: Diagnostic) -> Iterator[str]:
    yield sanitize(f"{finding.place}: {finding.severity.value}: {finding.message} [{finding.code}]")
    for place, message in finding.related:
        yield sanitize(f"    {place}: {message}")
    if finding.hint:
        yield sanitize(f"    {finding.hint}")


def _without_secret(line: str) -> str:
    """A line that may contain a secret."""
    from gen.kubernetes.secrets import shows_secret

    return f"{line[:1]}(a line that may show a secret)" if shows_secret(line[1:]) else line


def _diff(change: Change | Edit) -> Iterator[str]:
    old = (change.old or "").splitlines()
    new = (change.new or "").splitlines()
    yield from (sanitize(line) for line in unified(old, new, f"a/{change.path}", f"b/{change.path}"))
