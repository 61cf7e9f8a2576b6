"""`gen stop`: end runs. After the merge, the engines delete them; records and data stay."""

from __future__ import annotations

from gen.commands.common import Result
from gen.commands.verb import Request, apply
from gen.report.formats import Report

__all__ = ["Request", "run"]


def run(request: Request) -> Result[Report]:
    return apply("stop", request)
