"""`gen validate` and `gen explain` on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gen.cli.options import Format, Output, Parallel, finish


def validate(
    paths: Annotated[
        list[str],
        typer.Argument(help="Files, folders, or - for standard input.", metavar="PATH", show_default=False),
    ],
    schema_location: Annotated[
        list[Path] | None,
        typer.Option("--schema-location", help="Folder or file of CustomResourceDefinitions; may be repeated."),
    ] = None,
    ignore_missing_schemas: Annotated[
        bool, typer.Option("--ignore-missing-schemas", help="Pass by kinds that there is no schema of.")
    ] = False,
    kubernetes: Annotated[
        str | None,
        typer.Option("--kubernetes-version", help="Check against this version instead of the overlay's or the newest."),
    ] = None,
    output: Format = Output.TEXT,
    parallel: Parallel = 0,
) -> None:
    """Check manifests as an API server and the operators would."""
    import os

    from gen.commands.validate import Request, run

    locations, processes = tuple(schema_location or ()), parallel or os.cpu_count() or 1
    request = Request(
        paths=tuple(paths),
        kubernetes=kubernetes,
        schemas=locations,
        ignore_missing=ignore_missing_schemas,
        parallel=processes,
    )
    finish(*run(request), output)


def explain(
    name: Annotated[
        str | None, typer.Argument(help="Name of a finding; all are listed when left out.", metavar="NAME")
    ] = None,
) -> None:
    """Say what a finding means, why it matters, and what to do."""
    from gen.report.explain import explained, listed

    typer.echo(explained(name) if name is not None else listed(), nl=False)
