"""`gen top`: accelerators of the nodes, and the jobs that hold them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gen.commands.live import LiveRequest, reached
from gen.commands.result import CLEAN, VIOLATIONS, Result
from gen.commands.terminal import terminal
from gen.diagnostics import Findings
from gen.report.formats import TOP_REPORTERS
from gen.report.live.view import View

if TYPE_CHECKING:
    from gen.cluster.top import Top

FORMATS = TOP_REPORTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(LiveRequest):
    """Arguments of `gen top`."""


def run(request: Request) -> Result[View[Top]]:
    """Exit code 1 if a cluster did not answer."""
    found = Findings()
    _, targets = reached(request, found)
    from gen.cluster.top import read_top  # noqa: PLC0415 - needs the client

    top = read_top(targets, found)
    failed = any(finding.is_error for finding in top.findings)
    return Result(output=View(data=top, terminal=terminal()), exit_code=VIOLATIONS if failed else CLEAN)
