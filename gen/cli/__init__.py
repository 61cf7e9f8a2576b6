"""The command line: flags in, text and an exit code out. What a command does is imported when it runs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from gen import __version__
from gen.cli.author import init, new, set_
from gen.cli.plan import plan
from gen.cli.render import check, render
from gen.cli.validate import explain, validate

app = typer.Typer(
    name="gen",
    help="Declarative GitOps generator for distributed training on Kubernetes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # boxes cut long names of options off, and take as long as all else
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Document(StrEnum):
    JOB = "job"
    OVERLAY = "overlay"


def _version(value: bool) -> None:
    if value:
        typer.echo(f"gen {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


for command in (render, check, plan, validate, explain, new):
    app.command()(command)
app.command("set")(set_)
app.command()(init)


@app.command()
def schema(document: Annotated[Document, typer.Argument(help="What the schema is of.", metavar="job|overlay")]) -> None:
    """Print the JSON Schema that editors check files with."""
    from gen.commands.schema import schema_text

    typer.echo(schema_text(document.value), nl=False)
