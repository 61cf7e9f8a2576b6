"""`gen check`: compare `rendered/` with the files that `gen render` would write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gen.commands.compared import RenderRequest, refused, render_and_compare, summary
from gen.commands.result import CLEAN, VIOLATIONS, Result
from gen.report.formats import REPORTERS
from gen.report.types import Report

if TYPE_CHECKING:
    from pathlib import Path

FORMATS = REPORTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(RenderRequest):
    """Arguments of `gen check`."""


def run(request: Request) -> Result[Report]:
    """Violations when there is an error, or when anything would be written or removed."""
    return check(request, request.cache)


def check(request: Request, cache: Path | None = None) -> Result[Report]:
    """Check with the cache in a folder, or without one."""
    compared = render_and_compare(request, cache)
    rendering, comparison = compared.rendering, compared.comparison
    if comparison is None:
        return refused(rendering.findings)
    text = summary(rendering, comparison, "would write", "would remove")
    if comparison.changes:
        text += "; run `gen render` and commit the result"
    failed = rendering.findings.failed() or bool(comparison.changes)
    report = Report(tuple(rendering.findings), comparison.changes, text, done=False)
    return Result(output=report, exit_code=VIOLATIONS if failed else CLEAN)
