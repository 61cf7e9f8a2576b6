"""The command line: flags in, text and an exit code out. What a command does is imported when it runs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gen import __version__
from gen.cli.plan import plan
from gen.cli.validate import explain, validate

app = typer.Typer(
    name="gen",
    help="Declarative GitOps generator for distributed training on Kubernetes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Output(StrEnum):
    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"
    JUNIT = "junit"


class Document(StrEnum):
    JOB = "job"
    OVERLAY = "overlay"


Jobs = Annotated[
    list[str] | None,
    typer.Argument(help="Job files, folders or patterns; all jobs when left out.", metavar="[JOB]..."),
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


@app.command()
def render(
    jobs: Jobs = None,
    overlay: Overlays = None,
    root: Root = None,
    output: Format = Output.TEXT,
    parallel: Parallel = 0,
    kubernetes: Kubernetes = None,
    no_cache: NoCache = False,
    prune_storage: Annotated[
        bool, typer.Option("--prune-storage", help="Remove storage files that no job uses.")
    ] = False,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Remove everything when there are no jobs.")
    ] = False,
) -> None:
    """Write the manifests of all jobs to rendered/."""
    from gen.cache import cache_folder  # noqa: PLC0415 - `--help` needs none of it
    from gen.commands import Request, render  # noqa: PLC0415

    cache = None if no_cache else cache_folder()
    names = tuple(jobs or ()), tuple(overlay or ())
    _finish(*render(Request(root, *names, parallel, kubernetes, cache, prune_storage, allow_empty)), output)


@app.command()
def check(
    jobs: Jobs = None,
    overlay: Overlays = None,
    root: Root = None,
    output: Format = Output.TEXT,
    parallel: Parallel = 0,
    kubernetes: Kubernetes = None,
    no_cache: NoCache = False,
) -> None:
    """Tell whether rendered/ is what the jobs and overlays say, without writing."""
    from gen.cache import cache_folder  # noqa: PLC0415
    from gen.commands import Request, check  # noqa: PLC0415

    cache = None if no_cache else cache_folder()
    names = tuple(jobs or ()), tuple(overlay or ())
    _finish(*check(Request(root, *names, parallel, kubernetes, cache)), output)


app.command()(plan)
app.command()(validate)
app.command()(explain)


@app.command()
def new(
    kind: Annotated[str, typer.Argument(help="Kind of job.")],
    name: Annotated[str, typer.Argument(help="Name of the job.")],
    namespace: Annotated[str | None, typer.Option("--namespace", help="Namespace; the only one when left out.")] = None,
    root: Root = None,
) -> None:
    """Write a commented job file that renders."""
    from gen.commands import repository  # noqa: PLC0415
    from gen.scaffold import new_job  # noqa: PLC0415

    job = new_job(repository(root), kind, name, namespace)
    typer.echo(f"wrote {job.file}; edit it, then run `gen render`")


@app.command("set")
def set_(
    job: Annotated[str, typer.Argument(help="A job file, NAMESPACE/NAME, or a pattern over those.")],
    assignments: Annotated[
        list[str] | None, typer.Argument(help="Such as `state=finished` or `env.DEBUG=on`.", metavar="[FIELD=VALUE]...")
    ] = None,
    unset: Annotated[list[str] | None, typer.Option("--unset", help="Remove this field; may be repeated.")] = None,
    root: Root = None,
    output: Format = Output.TEXT,
) -> None:
    """Change fields of job files; comments, order and layout stay."""
    from gen.edit import SetRequest, set_fields  # noqa: PLC0415

    _finish(*set_fields(SetRequest(root, job, tuple(assignments or ()), tuple(unset or ()))), output)


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to fill; made when it is not there.")],
    namespace: Annotated[str, typer.Option("--namespace", help="Namespace of the first job.")] = "team-a",
    overlay: Annotated[str, typer.Option("--overlay", help="Name of the first cluster.")] = "production",
    owner: Annotated[
        str, typer.Option("--owner", help="Who owns overlays and CI, for CODEOWNERS.")
    ] = "@your-org/platform",
    output: Format = Output.TEXT,
) -> None:
    """Make a repository with a first job, rendered, and CI for GitHub and GitLab."""
    from gen.init import InitRequest, init  # noqa: PLC0415

    _finish(*init(InitRequest(folder, namespace, overlay, owner)), output)


@app.command()
def schema(document: Annotated[Document, typer.Argument(help="What the schema is of.")]) -> None:
    """Print the JSON Schema that editors check job files and overlays with."""
    from gen.schema import schema_text  # noqa: PLC0415

    typer.echo(schema_text(document.value), nl=False)


def _finish(report: object, code: int, output: Output) -> None:
    from gen.report.reporters import REPORTERS  # noqa: PLC0415
    from gen.report.types import Report  # noqa: PLC0415

    assert isinstance(report, Report)  # noqa: S101
    typer.echo(REPORTERS[output.value](report), nl=False)
    raise typer.Exit(code)
