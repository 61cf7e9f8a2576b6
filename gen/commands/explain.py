"""`gen explain`: describe a finding, or list all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from gen.commands.result import Result
from gen.report.explain import explain, list_findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Arguments of `gen explain`."""

    name: Annotated[
        str | None, typer.Argument(help="Code of a finding. [default: list all]", metavar="CODE", show_default=False)
    ] = None


def run(request: Request) -> Result[str]:
    """UsageError for an unknown code."""
    return Result(output=explain(request.name) if request.name is not None else list_findings())
