"""`gen tensorboard`: forward a port of this machine to the TensorBoard of a job."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from gen.base import Findings, UsageError, quoted
from gen.commands.common import CLEAN, VIOLATIONS, LiveRequest, Stream, cluster_questions
from gen.report.findings.text import text
from gen.report.formats import Report

if TYPE_CHECKING:
    from gen.live.board import Board
    from gen.live.client import Api

_DEFAULT_PORT = 6006


FORMATS = None
"""The output is text."""


class Request(LiveRequest, frozen=True, kw_only=True):
    job: Annotated[str, typer.Argument(help="Job file, NAMESPACE/NAME, or a pattern for one job.", metavar="JOB")]
    port: Annotated[
        int, typer.Option("--port", metavar="PORT", min=0, max=65535, help="Port of this machine; 0 is any free one.")
    ] = _DEFAULT_PORT


def run(request: Request) -> Stream[str]:
    """Goes on until it is interrupted. Exit code 1 if no TensorBoard is ready."""
    found = Findings()
    questions = cluster_questions(request, (request.job,), found)
    from gen.base.codes.clusters import NO_TENSORBOARD
    from gen.live.board import find_board
    from gen.live.client import ClusterError

    jobs = {(one.namespace, one.job) for question in questions for one in question.desired}
    if len(jobs) > 1:
        raise UsageError(f"`{request.job}` matches {len(jobs)} jobs: name one of them")
    boards: list[tuple[Api, Board, str]] = []
    for question in questions:
        place = question.target.overlays[0].place("cluster")
        for namespace, job in {(one.namespace, one.job) for one in question.desired}:
            try:
                board = find_board(question.target.api, namespace, job)
            except ClusterError as error:
                found.error(error.code, place, error.message, error.hint)
                continue
            if board is not None:
                boards.append((question.target.api, board, job))
            else:
                message = f"no pod of the TensorBoard of `{namespace}/{job}` is ready"
                found.error(NO_TENSORBOARD, place, message, "set `tensorboard` in the job, or wait for its pod")
    return Stream(pieces=_pieces(request, boards, found), code=lambda: CLEAN if boards else VIOLATIONS)


def _pieces(request: Request, boards: list[tuple[Api, Board, str]], found: Findings) -> Iterator[str]:
    """The findings and the URL; afterwards, connections that fail."""
    from gen.live.board import Forwarder

    if len(boards) > 1:
        names = quoted(api.context for api, _, _ in boards)
        raise UsageError(f"the job has a TensorBoard in {names}: choose one with `--overlay`")
    if found.items:
        yield text(Report(tuple(found), (), "")).removesuffix("\n")
    for api, board, job in boards:
        try:
            forwarder = Forwarder(api, board, job, request.port)
        except OSError as error:
            raise UsageError(f"cannot use port {request.port}: {error.strerror}; pass another `--port`") from None
        yield f"{forwarder.url} is the TensorBoard of {board.namespace}/{job}; press Ctrl+C to end\n"
        for failure in forwarder.errors():
            yield f"{failure.message}: {failure.hint}\n"
