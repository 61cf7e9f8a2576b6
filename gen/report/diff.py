"""Objects that a render would change, as text, JSON and Markdown. Equal differences are printed once.

The `version` of the JSON document changes when the meaning of a field does. Markdown is a comment on a pull
request, cut to the size that a comment may have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gen.base import counted
from gen.report.escaping import code_span, diff_block, json_document, sanitize
from gen.report.findings.json import finding_data
from gen.report.findings.text import finding_lines
from gen.report.plan.differences import group_changes
from gen.report.plan.json import object_data
from gen.report.terminal import Terminal, View
from gen.review.result import RenderedDiff

STYLES: Final = {"-": "removed", "+": "added", "@": "frame"}
"""Styles of the lines of a diff by their first character that is not a space."""


def as_text(view: View[RenderedDiff]) -> str:
    return "".join(f"{line}\n" for line in _lines(view.data, view.terminal))


def _lines(diff: RenderedDiff, terminal: Terminal) -> Iterator[str]:
    for group in group_changes(diff.objects):
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
    """Files with changes that the objects do not show."""
    if diff.edited:
        yield "edited by hand", tuple(sorted(diff.edited))
    if diff.rewritten:
        yield "only the text differs, or the file has no object that can be read", diff.rewritten


def as_json(view: View[RenderedDiff]) -> str:
    diff = view.data
    document = {
        "version": 1,
        "findings": [finding_data(finding) for finding in diff.findings],
        "objects": [object_data(change) for change in diff.objects],
        "edited": sorted(diff.edited),
        "rewritten": list(diff.rewritten),
        "summary": diff.summary,
    }
    return json_document(document)


MAX_LENGTH: Final = 60_000
MAX_NAMES: Final = 20
"""Maximum of listed names in a group of objects or files."""


def as_markdown(view: View[RenderedDiff]) -> str:
    diff = view.data
    text = f"### `gen render` would change {counted(len(diff.objects), 'object')}\n\n{code_span(diff.summary)}\n\n"
    entries = list(_entries(diff))
    for number, entry in enumerate(entries):
        if len(text) + len(entry) > MAX_LENGTH:
            return text + f"… and {len(entries) - number} more\n"
        text += entry
    return text


def _entries(diff: RenderedDiff) -> Iterator[str]:
    for finding in diff.findings:
        first, *more = map(code_span, finding_lines(finding))
        yield "".join(f"{line}\n" for line in (f"- {first}", *(f"  {line}" for line in more)))
    for group in group_changes(diff.objects):
        yield f"\n{group.action} {code_span(group.kind)}: {_names(group.names)}\n"
        if lines := group.lines:
            yield f"\n{diff_block(lines)}"
    for title, paths in file_lists(diff):
        yield f"\n{title}: {_names(paths)}\n"


def _names(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(map(code_span, names[:MAX_NAMES])) + more
