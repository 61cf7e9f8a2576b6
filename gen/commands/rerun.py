"""`gen rerun`: run jobs again, as their next attempt."""

from __future__ import annotations

from typing import Annotated

import typer

from gen.commands import verb
from gen.commands.common import Result
from gen.report.formats import Report


class Request(verb.Request, frozen=True, kw_only=True):
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue from the `checkpoints` of the last run: writes `resume`.")
    ] = False


def run(request: Request) -> Result[Report]:
    return verb.apply("rerun", request, resume=request.resume)
