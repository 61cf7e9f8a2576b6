"""`gen status`: the runs in the clusters and in Git."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from gen.base import Findings, UsageError, did_you_mean
from gen.commands.common import CLEAN, VIOLATIONS, Jobs, LiveRequest, Result, Stream, cluster_questions, completions
from gen.commands.environment import progress_bar, terminal
from gen.kubernetes import quantity
from gen.live.model import ClusterStatus, Phase, RunStatus
from gen.report.formats import STATUS_REPORTERS
from gen.report.terminal import Terminal, View

if TYPE_CHECKING:
    from gen.live.clusters import Question

FORMATS = STATUS_REPORTERS
ENDED = "ended"
WAITS = {
    "running": {Phase.RUNNING, Phase.SUCCEEDED},
    "succeeded": {Phase.SUCCEEDED, Phase.GONE},
    ENDED: {Phase.SUCCEEDED, Phase.FAILED, Phase.GONE},
}
"""By the value of `--wait`: the phases that all runs must reach."""


def _phases(incomplete: str) -> list[str]:
    return [phase.value for phase in Phase if phase.value.startswith(incomplete)]


def _waits(incomplete: str) -> list[str]:
    return completions(incomplete, WAITS)


class Request(LiveRequest, frozen=True, kw_only=True):
    jobs: Jobs = ()
    phase: Annotated[
        tuple[str, ...],
        typer.Option(
            "--phase", metavar="PHASE", help="Only runs in this phase; may be repeated.", autocompletion=_phases
        ),
    ] = ()
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Go on, and show each run that changes.")] = False
    wait: Annotated[
        str | None,
        typer.Option(
            "--wait",
            metavar="|".join(WAITS),
            help="Wait until all runs are in this phase: with `running`, all their pods.",
            autocompletion=_waits,
        ),
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
    questions = cluster_questions(request, request.jobs, found)
    if request.watch or request.wait:
        follower = _Follower(questions, request, found, deadline)
        return Stream(pieces=follower.pieces(), code=lambda: follower.exit_code)
    from msgspec.structs import replace

    from gen.live.clusters import read_status

    if request.jobs and len({(run.namespace, run.job) for one in questions for run in one.desired}) == 1:
        questions = [replace(one, diagnose=True) for one in questions]
    with progress_bar("reading runs") as progress:
        status = _filtered(read_status(questions, found, progress), request)
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
    from msgspec.structs import replace

    if not request.phase:
        return status
    return replace(status, runs=tuple(run for run in status.runs if run.phase in request.phase))


class _Follower:
    """Shows changes until the runs are in the expected phase, or until the deadline."""

    def __init__(self, questions: list[Question], request: Request, found: Findings, deadline: float | None) -> None:
        self.questions, self.request, self.found, self.deadline = questions, request, found, deadline
        self.exit_code = CLEAN

    def pieces(self) -> Iterator[View[ClusterStatus]]:
        from gen.live.clusters import follow

        shown: dict[tuple[str, ...], RunStatus] = {}
        where: Terminal = terminal()
        status: ClusterStatus | None = None
        for status in follow(self.questions, self.found, self.deadline):
            done = self._end(status)
            view = _filtered(_changes(status, shown) if shown else status, self.request)
            shown = {run.key: run for run in status.runs}
            if self.request.watch and (view.runs or not view.changed):
                yield View(data=view, terminal=where)
            if done is not None:
                break
        else:
            done = VIOLATIONS if self.request.wait else None
        assert status is not None  # there is always a first answer
        self.exit_code = exit_code(status) if done is None else done
        if not self.request.watch:
            yield View(data=_filtered(status, self.request), terminal=where)

    def _end(self, status: ClusterStatus) -> int | None:
        """The exit code if the runs are in the expected phase or can no longer reach it; otherwise None."""
        if self.request.wait is None:
            return None
        own = [run for run in status.runs if run.scheduled or (run.desired is not None and not run.parent)]
        waited = [run for run in own if run.phase is not Phase.SCHEDULED]
        phases = [run.phase for run in waited]
        expected = WAITS[self.request.wait]
        if waited and all(run.phase in expected and (run.phase is not Phase.RUNNING or run.settled) for run in waited):
            return VIOLATIONS if any(finding.is_error for finding in status.findings) else CLEAN
        return VIOLATIONS if Phase.FAILED in phases and Phase.FAILED not in expected else None


def _changes(status: ClusterStatus, shown: dict[tuple[str, ...], RunStatus]) -> ClusterStatus:
    from msgspec.structs import replace

    runs = tuple(run for run in status.runs if shown.get(run.key) != run)
    return replace(status, runs=runs, findings=(), changed=True)
