"""`gen new`, `gen set` and `gen init` on the command line: what writes inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gen.cli.options import Format, Output, Root, finish


def new(
    kind: Annotated[str, typer.Argument(help="Kind of job.", metavar="KIND")],
    name: Annotated[str, typer.Argument(help="Name of the job.", metavar="NAME")],
    namespace: Annotated[str | None, typer.Option("--namespace", help="Namespace; the only one when left out.")] = None,
    root: Root = None,
) -> None:
    """Write a commented job file that renders."""
    from gen.commands.new import new_job
    from gen.commands.render import repository

    job = new_job(repository(root), kind, name, namespace)
    typer.echo(f"wrote {job.file}; edit it, then run `gen render`")


def set_(
    job: Annotated[str, typer.Argument(help="A job file, NAMESPACE/NAME, or a pattern over those.", metavar="JOB")],
    assignments: Annotated[
        list[str] | None, typer.Argument(help="Such as `state=finished` or `env.DEBUG=on`.", metavar="FIELD=VALUE")
    ] = None,
    unset: Annotated[list[str] | None, typer.Option("--unset", help="Remove this field; may be repeated.")] = None,
    root: Root = None,
    output: Format = Output.TEXT,
) -> None:
    """Change fields of job files; comments, order and layout stay."""
    from gen.commands.set import SetRequest, set_fields

    finish(*set_fields(SetRequest(root, job, tuple(assignments or ()), tuple(unset or ()))), output)


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to fill; made when it is not there.")],
    namespace: Annotated[str, typer.Option("--namespace", help="Namespace of the first job.")] = "team-a",
    overlay: Annotated[str, typer.Option("--overlay", help="Name of the first cluster.")] = "production",
    owner: Annotated[
        str, typer.Option("--owner", help="Who owns overlays and CI, for CODEOWNERS.")
    ] = "@your-org/platform",
    output: Format = Output.TEXT,
) -> None:
    """Make a repository with a first job, rendered, and CI."""
    from gen.commands.init import InitRequest, init

    finish(*init(InitRequest(folder, namespace, overlay, owner)), output)
