"""Objects that a render would change as a comment on a pull request, cut to the size that a comment may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.diagnostics import counted
from gen.report.diff.text import file_lists
from gen.report.markdown import code_span, diff_block
from gen.report.plan.differences import grouped
from gen.report.text import finding_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.report.live.view import View
    from gen.review.would_change import RenderedDiff

MAX_LENGTH: Final = 60_000
MAX_NAMES: Final = 20
"""Names that are listed of one group of objects or files."""


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
    for group in grouped(diff.objects):
        yield f"\n{group.action} {code_span(group.kind)}: {_names(group.names)}\n"
        if lines := group.lines:
            yield f"\n{diff_block(lines)}"
    for title, paths in file_lists(diff):
        yield f"\n{title}: {_names(paths)}\n"


def _names(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(map(code_span, names[:MAX_NAMES])) + more
