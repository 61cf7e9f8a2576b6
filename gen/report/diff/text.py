"""Objects that a render would change, for people: the fields of equal differences once, in color on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.report.plan.differences import grouped
from gen.report.sanitize import sanitize
from gen.report.text import finding_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.report.live.view import View
    from gen.report.terminal import Terminal
    from gen.review.would_change import RenderedDiff

STYLES: Final = {"-": "removed", "+": "added", "@": "frame"}
"""Styles of the lines of a diff by their first character that is not a space."""


def as_text(view: View[RenderedDiff]) -> str:
    return "".join(f"{line}\n" for line in _lines(view.data, view.terminal))


def _lines(diff: RenderedDiff, terminal: Terminal) -> Iterator[str]:
    for group in grouped(diff.objects):
        yield terminal.styled(f"{group.action} {group.kind}:", "bold")
        yield from (f"  {name}" for name in group.names)
        for line in group.lines:
            yield f"    {terminal.styled(line, STYLES.get(line.strip()[:1], ''))}"
        yield ""
    for title, paths in file_lists(diff):
        yield terminal.styled(f"{title}:", "bold")
        yield from (f"  {sanitize(path)}" for path in paths)
        yield ""
    for finding in diff.findings:
        yield from finding_lines(finding)
    yield terminal.styled(sanitize(diff.summary), "bold")


def file_lists(diff: RenderedDiff) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Files about which the objects do not say everything."""
    if diff.edited:
        yield "edited by hand", tuple(sorted(diff.edited))
    if diff.rewritten:
        yield "only the text differs, or the file has no object that can be read", diff.rewritten
