"""`gen rerun`: run jobs again, as their next attempt."""

from __future__ import annotations

from gen.commands.common import Result
from gen.commands.verb import Request, apply
from gen.report.formats import Report

__all__ = ["Request", "run"]


def run(request: Request) -> Result[Report]:
    return apply("rerun", request)
