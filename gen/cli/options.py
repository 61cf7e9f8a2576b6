"""Options that several commands share, and how a command ends."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from gen.report.types import Report


class Output(StrEnum):
    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"
    JUNIT = "junit"


Jobs = Annotated[
    list[str] | None,
    typer.Argument(help="Job files, folders or patterns; all jobs when left out.", metavar="JOB"),
]
Overlays = Annotated[list[str] | None, typer.Option("--overlay", help="Only this overlay; may be repeated.")]
Root = Annotated[
    Path | None,
    typer.Option("--root", help="The repository; the nearest folder with jobs/ and overlays/ when left out."),
]
Format = Annotated[Output, typer.Option("--output", help="How to report.")]
Kubernetes = Annotated[
    str | None, typer.Option("--kubernetes-version", help="Check against this version instead of the overlays' own.")
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Look at every job, also those that did not change.")]
Parallel = Annotated[int, typer.Option("--parallel", "-n", min=0, help="Processes; 0 is one for each processor.")]


def finish(report: Report, code: int, output: Output) -> None:
    from gen.report.reporters import REPORTERS

    typer.echo(REPORTERS[output.value](report), nl=False)
    raise typer.Exit(code)
