"""A command of the command line, made from the `Request`, `run` and `FORMATS` of its file in `gen.commands`.

Mistakes of the command line become messages of gen, with the names that were probably meant. Only here is known whether
people read the output on a terminal: reports for them have excerpts of the files.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Final, get_args, get_origin

import typer
from msgspec import NODEFAULT, Struct
from msgspec.structs import fields
from pydantic import ValidationError
from typer.core import TyperCommand

from gen.base import (
    Diagnostic,
    Location,
    UsageError,
    did_you_mean,
    has_internal_error,
    internal_error,
    is_passed,
    near,
    regex,
)
from gen.base.findings import BUG
from gen.base.repository.files import MAX_BYTES, linked_folder, read_regular
from gen.commands import COMMANDS
from gen.commands.common import DEFAULT_FORMAT, Formats, Stream, formatted, with_links
from gen.commands.environment import documentation, help_line, is_terminal, terminal
from gen.report.escaping import sanitize
from gen.report.formats import REPORTERS, Documentation, Report

OUTPUT = "output"
CLEAR = "\x1b[H\x1b[2J"
"""Sequence that moves to the first line of a terminal and clears it (CUP and ED of ECMA-48)."""
MAX_WIDTH = 120
"""Columns of help on a wider terminal."""


class Command(TyperCommand):
    """A command that shows arguments without the types of Python behind their names."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            parameters = [one for one in self.get_params(ctx) if one.param_type_name == kind]
            rows = [(one, one.get_help_record(ctx)) for one in parameters]
            shown = [(one.metavar if kind == "argument" else row[0], row[1]) for one, row in rows if row is not None]
            if shown:
                with formatter.section(title):
                    formatter.write_dl(shown)


def make_command(name: str) -> Any:
    """The command that parses arguments, runs, prints the result and exits."""
    app = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": MAX_WIDTH},
    )
    function = _function(import_module(f"gen.commands.{name}"))
    app.command(name, cls=Command, help=COMMANDS[name], epilog=help_line())(function)
    return typer.main.get_command(app)


def _function(module: ModuleType) -> Callable[..., None]:
    """A function with a parameter for each field of the request, and one for the format of the output."""
    formats: Formats | None = getattr(module, "FORMATS", REPORTERS)

    def command(**arguments: Any) -> None:
        chosen = arguments.pop(OUTPUT, DEFAULT_FORMAT)
        site = documentation()  # before anything is written: its address can be invalid
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in arguments.items()}
        result = module.run(module.Request(**{name: value for name, value in values.items() if value is not None}))
        if isinstance(result, Stream):
            for piece in result.pieces:
                before = CLEAR if result.replaces and is_terminal() else ""
                _print(before + _formatted(piece, formats, chosen, site))
            raise typer.Exit(result.code())
        text, failed = _contained(result.output, formats, chosen, site)
        _print(text)
        raise typer.Exit(BUG if failed else result.exit_code)

    parameters = [*_parameters(module.Request)]
    if formats is not None:
        parameters.append(_format_parameter(formats))
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # read by `inspect.signature`
    return command


def _parameters(request: type[Struct]) -> Iterator[inspect.Parameter]:
    """The fields of a request as parameters for typer, which knows values that may be repeated as lists."""
    own = request.__annotations__  # options that several commands have come after those of the command
    for field in sorted(fields(request), key=lambda field: field.name not in own):
        kind, declared = get_args(field.type)
        default = inspect.Parameter.empty if field.default is NODEFAULT else field.default
        if get_origin(kind) is tuple:
            kind, default = list[get_args(kind)[0]], default or None  # type: ignore[misc] # known at run time
        yield _parameter(field.name, Annotated[kind, declared], default)


def _parameter(name: str, annotation: object, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _format_parameter(formats: Formats) -> inspect.Parameter:
    """The option `--output`. Plugins are loaded only for a format that gen does not have."""

    def check(context: typer.Context, value: str) -> str:
        if value not in formats and not context.resilient_parsing:
            words = [*formats, *(_plugin_formats(context.params["root"]) if formats is REPORTERS else ())]
            if value not in words:
                raise typer.BadParameter(f"`{value}`; {did_you_mean(value, words)}")
        return value

    option = typer.Option(
        "--output",
        metavar="FORMAT",
        help=f"Output format: {', '.join(formats)}.",
        callback=check,
        autocompletion=lambda: list(formats),
    )
    return _parameter(OUTPUT, Annotated[str, option], DEFAULT_FORMAT)


def _plugin_formats(root: Path | None) -> Formats:
    """The formats of plugins that the repository names."""
    from gen.commands.common import repository
    from gen.overlay import load_extensions
    from gen.overlay.plugins import REPORTS

    try:
        load_extensions(repository(root))
    except UsageError:  # outside of a repository no overlay names a plugin
        return {}
    return REPORTS


def _print(text: str) -> None:
    if text:  # a language server has closed the stream
        typer.echo(text, nl=False, color=True)  # formats for terminals have colors if the environment permits


def _contained(output: object, formats: Formats | None, chosen: str, site: Documentation) -> tuple[str, bool]:
    """The output as text, or its findings alone if it cannot be formatted; and whether there was an internal error."""
    findings: tuple[Diagnostic, ...] = getattr(getattr(output, "data", output), "findings", ())
    try:
        return _formatted(output, formats, chosen, site), has_internal_error(findings)
    except Exception as error:
        if isinstance(output, str) or is_passed(error):
            raise
        finding = internal_error(error, Location("."), f"write the report as {chosen}")
        report = Report((*findings, finding), (), "the other results are missing")
        if chosen in REPORTERS:  # which may be the one that failed
            with suppress(Exception):
                return _formatted(report, REPORTERS, chosen, site), True
        return _formatted(report, REPORTERS, DEFAULT_FORMAT, site), True


def _formatted(output: Any, formats: Formats | None, chosen: str, site: Documentation) -> str:
    """The output as text; for a terminal, with the lines that findings are about."""
    excerpts = formats is not None and "full" in formats
    if excerpts and (chosen == "full" or (chosen == DEFAULT_FORMAT and is_terminal())):
        from gen.report.findings.full import full

        return full(with_links(output, site, chosen), terminal(output.root), lines_below(output.root))
    return formatted(output, formats, chosen, site)


def lines_below(root: Path | None) -> Callable[[str], list[str]]:
    """Reads the lines of files by their paths in a repository; none of those that are not readable text."""
    known: dict[str, list[str]] = {}

    def lines(file: str) -> list[str]:
        if file not in known:
            known[file] = _lines(root, file)
        return known[file]

    return lines


def _lines(root: Path | None, file: str) -> list[str]:
    if root is None or linked_folder(root, file) is not None:  # a link may lead to a file of another owner
        return []
    try:
        return read_regular(root / file, MAX_BYTES).decode("utf-8").split("\n")
    except (OSError, ValueError):
        return []


_QUOTED: Final = regex(r"'([^']*)'")
_EXPECTED: Final = {
    "int_parsing": "an integer",
    "float_parsing": "a number",
    "greater_than_equal": "at least {ge:g}",
    "less_than_equal": "at most {le:g}",
}
"""By pydantic's type of error, with which typer converts values."""


_MERGE = "gen starts nothing itself: commit the job file and `rendered/`, and a GitOps engine applies the merge"
_MEANT: Final = {
    f"{_MERGE}; `gen new` writes a job file": "apply submit run start launch deploy sync push exec sbatch",
    "`gen new` writes a job file": "add create generate scaffold",
    "`gen stop` ends a run and keeps its record": "cancel kill terminate abort halt end scancel",
    "`gen stop` ends a run and keeps its record; to remove a job, remove its file and run `gen render`":
        "delete remove rm destroy prune uninstall",
    "`gen rerun` starts the next attempt": "retry restart again resubmit requeue scontrol",
    "`gen tensorboard` shows the curves of runs side by side; `gen diff` shows what a render would change":
        "compare cmp metrics",
    "`gen diff` shows which fields a render would change, `gen plan` what a merge would": "preview dry-run whatif",
    "copy the job file: another name is another run; `gen new --from` copies a template": "cp copy clone duplicate",
    "rename the job file: a new name is a new run": "rename mv",
    "`gen status --watch` shows each change, `gen status --wait succeeded` waits for the end": "watch wait follow",
    "`gen status JOB` has the reason why a run waits or failed": "events why diagnose debug",
    "`git log -p jobs/` shows the edits of jobs, `gen site` the history of runs": "history rollout revisions",
    "`gen check --fix` makes the corrections that findings print": "fix fmt format",
    "`gen top` shows the accelerators of the nodes": "nodes gpus usage quota",
    "`gen plan` has the costs of a merge, `gen list` those of jobs": "cost costs price estimate",
    "`gen retire` sets jobs of ended runs to finished": "cleanup clean gc",
    "`gen suspend` removes the pods of a run until `gen resume`": "pause hold freeze",
    "`gen resume` lets a suspended run go on": "continue unsuspend unpause release",
    "`gen finish` keeps an ended run as a record": "complete done archive close",
    "`gen list` has the jobs in Git, `gen status` the runs in clusters": "ls ps get jobs queue squeue show describe",
    "`gen set` changes fields of a job file": "edit update patch change unset scale config",
    "`gen render` writes the manifests": "build template compile synth generate-manifests",
    "`gen check` verifies jobs, overlays and `rendered/`": "lint verify test",
    "`gen logs` shows the logs of a job": "log tail attach",
}  # fmt: skip
"""Commands of other tools, such as kubectl, Arena and Slurm, and what to do with gen."""


def meant(word: str) -> str:
    """`: …` with the equivalent of another tool's command, or an empty string."""
    hint = next((hint for hint, words in _MEANT.items() if word.lower() in words.split()), "")
    return f": {hint}" if hint else ""


_OPTIONS: Final = {"-n": "--namespace", "-o": "--output"}
"""Options of kubectl and others by their letters."""


def _meant_option(name: str, context: Any) -> str:
    """`: …` with the equivalent of another tool's option, or an empty string."""
    parameters = context.command.params if context is not None else []
    known = {option for one in parameters for option in one.opts}
    if (whole := _OPTIONS.get(name, name)) in known and whole != name:
        return f": did you mean `{whole}`?"
    jobs = {"job", "jobs"} & {one.name for one in parameters}
    if whole == "--namespace" and jobs:
        every = ", or `team/` for all of its jobs" if "jobs" in jobs else ""
        return f": write the namespace before the job, such as `team/demo`{every}"
    if name in {"-A", "--all-namespaces"}:
        return ": without a job, all namespaces are included"
    if name == "--dry-run" and context is not None and context.info_name == "render":
        return ": `gen check` compares without writing, `gen diff` shows the fields"
    return ""


def usage_error(error: typer.TyperException) -> UsageError:
    """The mistake with a remedy, in one line."""
    problem = " ".join(_problem(error).split())
    if not problem.endswith("?"):
        context = getattr(error, "ctx", None)
        problem += f"; `{context.command_path if context else 'gen'} --help` lists the arguments"
    return UsageError(sanitize(problem))


def suggestion(word: str, names: Iterable[str]) -> str:
    """`: did you mean …?`, or an empty string."""
    guess = near(word, names)
    return f": did you mean `{guess}`?" if guess else ""


def _problem(error: typer.TyperException) -> str:
    if hasattr(error, "option_name") and hasattr(error, "possibilities"):
        name = error.option_name
        hint = _meant_option(name, getattr(error, "ctx", None)) or suggestion(name, error.possibilities or ())
        return f"unknown option `{name}`{hint}"
    if isinstance(error, typer.BadParameter) and isinstance(error.__cause__, ValidationError):
        error = typer.BadParameter(_reason(error.__cause__), error.ctx, error.param)
    text = _QUOTED.sub(r"`\1`", error.format_message()).removesuffix(".")
    return text[:1].lower() + text[1:]


def _reason(error: ValidationError) -> str:
    """Why pydantic rejects a value."""
    detail = error.errors()[0]
    values = detail.get("ctx", {})
    expected = _EXPECTED.get(detail["type"])
    if expected is None:
        return str(values.get("error", detail["msg"]))
    return f"expected {expected.format(**values)}, got `{detail['input']}`"
