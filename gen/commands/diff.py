"""`gen diff`: the fields of objects that `gen render` would change in `rendered/`.

`gen check` decides whether `rendered/` is as it must be, with the Git index and the base branch, and shows the texts of
files. This command explains the difference: it reads no Git, and compares objects.
"""

from __future__ import annotations

from typing import Annotated

import typer

from gen.base import counted
from gen.commands.common import CLEAN, VIOLATIONS, Result
from gen.commands.environment import terminal
from gen.commands.rendering import RenderedRepository, RenderRequest, render_and_compare, summary
from gen.render.write.compare import Status
from gen.report.formats import DIFF_REPORTERS
from gen.report.terminal import View
from gen.review.result import RenderedDiff, object_differences

FORMATS = DIFF_REPORTERS


class Request(RenderRequest, frozen=True, kw_only=True):
    restart: Annotated[
        bool, typer.Option("--restart", help="Compare with a render of all runs by today's overlay and gen.")
    ] = False


def run(request: Request) -> Result[View[RenderedDiff]]:
    """Violations when there is an error, or when a file would be written or removed."""
    compared = render_and_compare(request, request.cache, restart=request.restart)
    diff = _difference(compared)
    differs = compared.comparison is None or compared.rendering.findings.failed() or bool(compared.comparison.changes)
    return Result(output=View(data=diff, terminal=terminal()), exit_code=VIOLATIONS if differs else CLEAN)


def _difference(compared: RenderedRepository) -> RenderedDiff:
    found, comparison = compared.rendering.findings, compared.comparison
    if comparison is None or found.failed():
        errors = sum(finding.is_error for finding in found)
        return RenderedDiff(findings=tuple(found), summary=f"{counted(errors, 'error')}; nothing was compared")
    objects, rewritten = object_differences(comparison.changes)
    return RenderedDiff(
        objects=objects,
        rewritten=rewritten,
        findings=tuple(found),
        edited=frozenset(change.path for change in comparison.changes if change.status is Status.EDITED),
        summary=summary(compared.rendering, comparison, "would write", "would remove"),
    )
