"""`gen lsp`: a language server on standard input and output, which editors start."""

from __future__ import annotations

import gc
from pathlib import Path

from msgspec import Struct

from gen.base import UsageError
from gen.commands.common import Result
from gen.commands.environment import documentation

FORMATS = None
"""The output is that of the protocol."""


class Request(Struct, frozen=True, kw_only=True):
    """`gen lsp` has no arguments: the editor names the files."""


def run(request: Request) -> Result[str]:  # noqa: ARG001 - all commands have the same form
    """Serve until the editor ends the session. UsageError without the extra `editor`."""
    try:
        from gen.editor.server import make_server
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in {"pygls", "lsprotocol"}:
            raise
        raise UsageError("this command needs a language server library: `pip install 'gitops-gen[editor]'`") from None
    gc.enable()  # a server runs for hours, unlike other commands
    server = make_server(documentation(), _plan, _pin)
    try:
        server.start_io()
    finally:
        server.close()
    return Result(output="")


def _plan(root: Path) -> str:
    """The plan of the saved files against the base."""
    from gen.commands.plan import Request as PlanRequest
    from gen.commands.plan import review
    from gen.report.formats import Planned
    from gen.report.plan.text import as_text

    return as_text(Planned(data=review(PlanRequest(root=root))))


def _pin(root: Path, job: str) -> str:
    """Pin the images and the code of a job. The only thing here that uses a network, when an author asks for it."""
    from gen.commands.pin import Request as PinRequest
    from gen.commands.pin import run as pin

    report = pin(PinRequest(jobs=(job,), root=root)).output
    return "\n".join((*(f"{one.message} ({one.hint})" for one in report.findings if one.is_error), report.summary))
