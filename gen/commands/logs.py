"""`gen logs`: the logs of all pods of a job in one stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from gen.base import Findings, UsageError
from gen.commands.common import CLEAN, VIOLATIONS, LiveRequest, Stream, cluster_questions
from gen.commands.environment import terminal
from gen.kubernetes import quantity
from gen.report.formats import LOG_REPORTERS
from gen.report.terminal import View

if TYPE_CHECKING:
    from gen.live.clusters import Question
    from gen.live.logs import LogLine, LogPiece, LogSelection

FORMATS = LOG_REPORTERS


class Request(LiveRequest, frozen=True, kw_only=True):
    job: Annotated[str, typer.Argument(help="Job file, NAMESPACE/NAME, or a pattern.", metavar="JOB")]
    role: Annotated[
        tuple[str, ...], typer.Option("--role", metavar="ROLE", help="Only this role; may be repeated.")
    ] = ()
    rank: Annotated[
        tuple[int, ...],
        typer.Option("--rank", metavar="N", min=0, help="Only pods with this index in their role; may be repeated."),
    ] = ()
    step: Annotated[
        tuple[str, ...], typer.Option("--step", metavar="STEP", help="Only this step of a pipeline; may be repeated.")
    ] = ()
    run: Annotated[
        tuple[str, ...],
        typer.Option("--run", metavar="RUN", help="This run; may be repeated. [default: the runs in Git]"),
    ] = ()
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the runs have ended.")] = False
    since: Annotated[
        str | None, typer.Option("--since", metavar="DURATION", help="Only lines of this time until now, such as 10m.")
    ] = None
    tail: Annotated[
        int | None, typer.Option("--tail", metavar="N", min=0, help="Only so many last lines of each container.")
    ] = None
    previous: Annotated[bool, typer.Option("--previous", help="Logs of the containers before their last restart.")] = (
        False
    )


def run(request: Request) -> Stream[View[LogPiece]]:
    """Exit code 1 if a log is missing, or a cluster did not answer."""
    if request.follow and request.previous:
        raise UsageError("`--previous` cannot be combined with `--follow`: the logs before a restart are complete")
    since = _seconds(request.since)
    found = Findings()
    questions = cluster_questions(request, (request.job,), found)
    from gen.live.logs import LogSelection

    selection = LogSelection(
        roles=request.role,
        ranks=request.rank,
        runs=request.run,
        steps=request.step,
        since=since,
        tail=request.tail,
        previous=request.previous,
    )
    reader = _Reader(questions, selection, found)
    return Stream(pieces=reader.pieces(follow=request.follow), code=lambda: reader.code)


def _seconds(text: str | None) -> int | None:
    try:
        return None if text is None else quantity.seconds(text)
    except ValueError as error:
        raise UsageError(f"--since: {error}; use a form like `90s`, `30m` or `12h`") from None


class _Reader:
    """Prints lines and, behind them, findings."""

    def __init__(self, questions: list[Question], selection: LogSelection, found: Findings) -> None:
        self.questions, self.selection, self.found = questions, selection, found
        self.code = CLEAN

    def pieces(self, *, follow: bool) -> Iterator[View[LogPiece]]:
        from gen.live.logs import LogPiece, report_none

        where = terminal()
        runs: set[str] = set()
        several = (len(self.selection.runs) or sum(len(one.desired) for one in self.questions)) > 1
        for batch in self._followed() if follow else self._read():
            runs |= {line.source.run for line in batch}
            yield View(data=LogPiece(lines=tuple(batch), several_runs=several), terminal=where)
        if not runs:
            for question in self.questions:
                report_none(question, self.found)
        self.code = VIOLATIONS if self.found.failed() or not runs else CLEAN
        if self.found.items:
            yield View(data=LogPiece(findings=tuple(self.found)), terminal=where)

    def _followed(self) -> Iterator[list[LogLine]]:
        from gen.live.logs import follow_logs

        yield from follow_logs(self.questions, self.selection, self.found)

    def _read(self) -> Iterator[list[LogLine]]:
        from gen.live.clusters import report
        from gen.live.logs import read_logs, sources
        from gen.live.snapshot import read_snapshot

        chosen = []
        for question in self.questions:
            snapshot = read_snapshot(question.target.api, question.scope)
            chosen += sources(question, snapshot, self.selection)
            for problem in snapshot.problems:
                report(question.target, problem, self.found)
        yield from read_logs(chosen, self.selection, self.found)
