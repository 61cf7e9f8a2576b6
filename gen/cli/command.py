"""A command of the command line, made from the `Request`, `run` and `FORMATS` of its file in `gen.commands`."""

from __future__ import annotations

import inspect
from contextlib import suppress
from dataclasses import MISSING, fields
from enum import StrEnum
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

import typer

from gen.cli.help import name_values
from gen.cli.values import Command, convert_directly
from gen.commands import COMMANDS
from gen.commands.documentation import documentation, help_line
from gen.commands.result import Stream
from gen.commands.terminal import is_terminal
from gen.diagnostics import UsageError
from gen.report.formats import REPORTERS
from gen.report.report import Report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import ModuleType

    from gen.report.documentation import Documentation

OUTPUT = "output"
DEFAULT_FORMAT = "text"
CLEAR = "\x1b[H\x1b[2J"
"""Sequence that moves to the first line of a terminal and clears it (CUP and ED of ECMA-48)."""
MAX_WIDTH = 120
"""Columns of help on a wider terminal."""


def make_command(name: str, arguments: Sequence[str] = ()) -> Any:
    """The command that parses arguments, runs, prints the result and exits.

    `arguments` are those of the command line. They matter only for the choices of `--output`.
    """
    app = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": MAX_WIDTH},
    )
    function = _function(import_module(f"gen.commands.{name}"), arguments)
    app.command(name, cls=Command, help=COMMANDS[name])(function)
    command = typer.main.get_command(app)
    name_values(command)
    convert_directly(command, get_type_hints(function))
    command.epilog = help_line()
    return command


def _function(module: ModuleType, given_arguments: Sequence[str]) -> Callable[..., None]:
    """A function with a parameter for each field of the request, as typer reads parameters."""
    formats = output_formats(module, given_arguments)

    def command(**arguments: Any) -> None:
        chosen = arguments.pop(OUTPUT, None)
        site = documentation()  # before anything is written: its address can be invalid
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in arguments.items()}
        result = module.run(module.Request(**{name: value for name, value in given.items() if value is not None}))
        if isinstance(result, Stream):
            for piece in result.pieces:
                before = CLEAR if result.replaces and is_terminal() else ""
                _print(before + _formatted(piece, formats, chosen, site))
            raise typer.Exit(result.code())
        _print(_formatted(result.output, formats, chosen, site))
        raise typer.Exit(result.exit_code)

    hints = get_type_hints(module.Request, include_extras=True)
    own = module.Request.__annotations__  # options that several commands have come after those of the command
    ordered = sorted(fields(module.Request), key=lambda field: field.name not in own)
    parameters = [_parameter(field.name, hints[field.name], field.default) for field in ordered]
    if formats is not None:
        parameters.append(_format_option(formats))
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # read by `inspect.signature`
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _print(text: str) -> None:
    typer.echo(text, nl=False, color=True)  # it has colors only if wanted


def _formatted(
    output: Any, formats: Mapping[str, Callable[[Any], str]] | None, chosen: Any, site: Documentation
) -> str:
    """The output as text. Only here is known whether people read it on a terminal."""
    if formats is None:
        text: str = output
        return text
    if isinstance(output, Report) and output.findings:
        from gen.cli.findings import with_links  # noqa: PLC0415 - most runs have no findings

        output = with_links(output, site, chosen.value)
    if "full" in formats and (chosen.value == "full" or (chosen.value == DEFAULT_FORMAT and is_terminal())):
        from gen.cli.excerpts import with_excerpts  # noqa: PLC0415 - not needed for other formats

        return with_excerpts(output)
    return formats[chosen.value](output)


def output_formats(module: ModuleType, arguments: Sequence[str]) -> Mapping[str, Callable[[Any], str]] | None:
    """Formats of a command. Plugins are loaded only if the arguments name a format that gen does not have."""
    formats: Mapping[str, Callable[[Any], str]] | None = getattr(module, "FORMATS", None)
    words = [word for argument in arguments for word in argument.split("=", 1)]
    values = dict(pairwise(words))
    if formats is not REPORTERS or values.get("--output", DEFAULT_FORMAT) in formats:
        return formats
    from gen.commands.compared import repository  # noqa: PLC0415 - only for formats of plugins
    from gen.overlay.extensions import load_extensions  # noqa: PLC0415 - as above
    from gen.plugins.registries import REPORTS  # noqa: PLC0415 - as above

    with suppress(UsageError):  # outside of a repository no overlay names a plugin
        load_extensions(repository(Path(values["--root"]) if "--root" in values else None))
    return {**formats, **REPORTS}


def _parameter(name: str, hint: Any, default: Any) -> inspect.Parameter:
    """Typer knows values that may be repeated as lists, with None as the default."""
    kind, *extras = get_args(hint)
    if get_origin(kind) is tuple:
        item, _ = get_args(kind)
        kind = list[item] if default is MISSING else list[item] | None  # type: ignore[valid-type] # known at run time
        default = default if default is MISSING else None
    value = inspect.Parameter.empty if default is MISSING else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value, annotation=_annotated(kind, extras))


def _format_option(formats: Iterable[str]) -> inspect.Parameter:
    choices = StrEnum("Output", [(name.upper(), name) for name in formats])  # type: ignore[misc] # computed choices
    option = _annotated(
        choices, [typer.Option("--output", metavar="FORMAT", help=f"Output format: {', '.join(formats)}.")]
    )
    return inspect.Parameter(OUTPUT, inspect.Parameter.KEYWORD_ONLY, default=choices(DEFAULT_FORMAT), annotation=option)


def _annotated(kind: Any, extras: list[Any]) -> Any:
    return Annotated[(kind, *extras)]
