"""`gen top`: accelerators of the nodes, and the jobs that hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.base import Findings
from gen.commands.common import CLEAN, VIOLATIONS, LiveRequest, Result, cluster_targets
from gen.commands.environment import terminal
from gen.report.formats import TOP_REPORTERS
from gen.report.terminal import View

if TYPE_CHECKING:
    from gen.live.top import Top

FORMATS = TOP_REPORTERS


class Request(LiveRequest, frozen=True, kw_only=True):
    """Arguments of `gen top`."""


def run(request: Request) -> Result[View[Top]]:
    """Exit code 1 if a cluster did not answer."""
    found = Findings()
    targets = cluster_targets(request, found)
    from gen.live.top import read_top

    top = read_top(targets, found)
    failed = any(finding.is_error for finding in top.findings)
    return Result(output=View(data=top, terminal=terminal()), exit_code=VIOLATIONS if failed else CLEAN)
