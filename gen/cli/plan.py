"""`gen plan` on the command line."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from gen.cli.options import Overlays, Root


class PlanOutput(StrEnum):
    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


def plan(
    base: Annotated[
        str | None,
        typer.Option("--base", help="Compare with where the work tree left this; the default branch when left out."),
    ] = None,
    overlay: Overlays = None,
    root: Root = None,
    output: Annotated[PlanOutput, typer.Option("--output", help="How to report.")] = PlanOutput.TEXT,
    max_removed: Annotated[
        str | None,
        typer.Option("--max-removed", metavar="N|P%", help="Refuse when more objects, or a larger share, would go."),
    ] = None,
    allow_data_removal: Annotated[
        bool, typer.Option("--allow-data-removal", help="Do not refuse when volumes or claims would go.")
    ] = False,
) -> None:
    """Tell what merging would do: runs, GPUs, data, each field."""
    from gen.commands.plan import PlanRequest, review
    from gen.report.plan.formats import FORMATS

    told = review(PlanRequest(root, base, tuple(overlay or ()), allow_data_removal, max_removed))
    typer.echo(FORMATS[output.value](told), nl=False)
    raise typer.Exit(1 if told.refused else 0)
