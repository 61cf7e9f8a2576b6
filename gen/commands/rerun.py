"""`gen rerun`: run jobs again, as their next attempt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from gen.commands import verb
from gen.commands.common import Result
from gen.report.formats import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(verb.Request):
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue from the `checkpoints` of the last run: writes `resume`.")
    ] = False


def run(request: Request) -> Result[Report]:
    return verb.apply("rerun", request, resume=request.resume)
