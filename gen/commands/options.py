"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gen.commands import words

Jobs = Annotated[
    tuple[str, ...],
    typer.Argument(
        help="Job files, folders or patterns. [default: all jobs]",
        metavar="JOB",
        show_default=False,
        autocompletion=words.jobs,
    ),
]
Overlays = Annotated[
    tuple[str, ...],
    typer.Option("--overlay", help="Only this overlay; may be repeated.", autocompletion=words.overlays),
]
Root = Annotated[
    Path | None,
    typer.Option(
        "--root", metavar="DIR", help="Repository. [default: the nearest parent folder with jobs/ and overlays/]"
    ),
]
RequestTimeout = Annotated[
    float,
    typer.Option(
        "--request-timeout", metavar="SECONDS", min=0.1, max=600, help="Time that a server may take for an answer."
    ),
]
DEFAULT_SECONDS = 10.0
Kubernetes = Annotated[
    str | None,
    typer.Option("--kubernetes-version", help="Check against this version instead of the overlays' own."),
]
Base = Annotated[
    str | None,
    typer.Option(
        "--base", metavar="REF", help="Git ref to compare with. [default: merge base with the default branch]"
    ),
]
Message = Annotated[
    Path | None, typer.Option("--message", metavar="FILE", help="Write the summary there, for `git commit -F`.")
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Render every job, even if it did not change.")]
Parallel = Annotated[
    int, typer.Option("--parallel", "-n", metavar="N", min=0, help="Number of processes; 0 is one per CPU.")
]
