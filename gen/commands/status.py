"""`gen status`: the runs in the clusters and in Git."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from gen import quantity
from gen.cluster.model import Phase
from gen.commands.live import LiveRequest, ask
from gen.commands.options import Jobs
from gen.commands.result import CLEAN, VIOLATIONS, Result, Stream
from gen.commands.terminal import terminal
from gen.diagnostics import Findings, UsageError, did_you_mean
from gen.report.formats import STATUS_REPORTERS
from gen.report.live.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.cluster.model import ClusterStatus, RunStatus
    from gen.cluster.read import Question
    from gen.report.terminal import Terminal

FORMATS = STATUS_REPORTERS
ENDED = "ended"
WAITS = {
    "running": {Phase.RUNNING, Phase.SUCCEEDED},
    "succeeded": {Phase.SUCCEEDED, Phase.GONE},
    ENDED: {Phase.SUCCEEDED, Phase.FAILED, Phase.GONE},
}
"""By the value of `--wait`: the phases that all runs must reach."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(LiveRequest):
    """Arguments of `gen status`."""

    jobs: Jobs = ()
    phase: Annotated[tuple[str, ...], typer.Option("--phase", help="Only runs in this phase; may be repeated.")] = ()
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Go on, and show each run that changes.")] = False
    wait: Annotated[
        str | None, typer.Option("--wait", metavar="|".join(WAITS), help="Wait until all runs are in this phase.")
    ] = None
    timeout: Annotated[
        str | None,
        typer.Option("--timeout", metavar="DURATION", help="End --watch and --wait after a time such as 1h."),
    ] = None


def run(request: Request) -> Result[View[ClusterStatus]] | Stream[View[ClusterStatus]]:
    """Exit code 1 if a run failed, is missing, differs from Git or is not in Git, or if a cluster did not answer."""
    _check(request)
    deadline = None if request.timeout is None else time.monotonic() + quantity.seconds(request.timeout)
    found = Findings()
    _, asked = ask(request, request.jobs, found)
    if request.watch or request.wait:
        follower = _Follower(asked, request, found, deadline)
        return Stream(pieces=follower.pieces(), code=lambda: follower.exit_code)
    from gen.cluster.read import read_status  # noqa: PLC0415 - needs the client

    status = _filtered(read_status(asked, found), request)
    return Result(output=View(data=status, terminal=terminal()), exit_code=exit_code(status))


def exit_code(status: ClusterStatus) -> int:
    failed = any(finding.is_error for finding in status.findings)
    return CLEAN if not failed and all(run.in_order for run in status.runs) else VIOLATIONS


def _check(request: Request) -> None:
    for phase in request.phase:
        if phase not in set(Phase):
            raise UsageError(f"unknown phase `{phase}`: {did_you_mean(phase, Phase)}")
    if request.wait is not None and request.wait not in WAITS:
        raise UsageError(f"cannot wait for `{request.wait}`: {did_you_mean(request.wait, WAITS)}")
    if request.timeout is not None:
        if not (request.watch or request.wait):
            raise UsageError("`--timeout` needs `--watch` or `--wait`; `--request-timeout` limits an answer")
        try:
            quantity.seconds(request.timeout)
        except ValueError as error:
            raise UsageError(f"--timeout: {error}; use a form like `90s`, `30m` or `12h`") from None


def _filtered(status: ClusterStatus, request: Request) -> ClusterStatus:
    from msgspec.structs import replace  # noqa: PLC0415 - `gen status --help` does not need it

    if not request.phase:
        return status
    return replace(status, runs=tuple(run for run in status.runs if run.phase in request.phase))


class _Follower:
    """Shows changes until the runs are where they are waited for, or until the deadline."""

    def __init__(self, asked: list[Question], request: Request, found: Findings, deadline: float | None) -> None:
        self.asked, self.request, self.found, self.deadline = asked, request, found, deadline
        self.exit_code = CLEAN

    def pieces(self) -> Iterator[View[ClusterStatus]]:
        from gen.cluster.live import follow  # noqa: PLC0415 - needs the client

        shown: dict[tuple[str, ...], RunStatus] = {}
        where: Terminal = terminal()
        status: ClusterStatus | None = None
        for status in follow(self.asked, self.found, self.deadline):
            done = self._reached(status)
            view = _filtered(_changes(status, shown) if shown else status, self.request)
            shown = {run.key: run for run in status.runs}
            if self.request.watch and (view.runs or not view.changed):
                yield View(data=view, terminal=where)
            if done is not None:
                break
        else:
            done = VIOLATIONS if self.request.wait else None
        assert status is not None  # noqa: S101 - there is always a first answer
        self.exit_code = exit_code(status) if done is None else done
        if not self.request.watch:
            yield View(data=_filtered(status, self.request), terminal=where)

    def _reached(self, status: ClusterStatus) -> int | None:
        """The exit code if the runs are where they are waited for, or cannot get there; otherwise None."""
        if self.request.wait is None:
            return None
        own = [run for run in status.runs if run.wanted == "schedule" or (run.wanted is not None and not run.parent)]
        phases = [run.phase for run in own if run.phase is not Phase.SCHEDULED]
        wanted = WAITS[self.request.wait]
        if phases and all(phase in wanted for phase in phases):
            return VIOLATIONS if any(finding.is_error for finding in status.findings) else CLEAN
        return VIOLATIONS if Phase.FAILED in phases and Phase.FAILED not in wanted else None


def _changes(status: ClusterStatus, shown: dict[tuple[str, ...], RunStatus]) -> ClusterStatus:
    from msgspec.structs import replace  # noqa: PLC0415 - `gen status --help` does not need it

    runs = tuple(run for run in status.runs if shown.get(run.key) != run)
    return replace(status, runs=runs, findings=(), changed=True)
