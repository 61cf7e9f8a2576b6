"""The command line: arguments in, text and an exit code out.

Every command is made from its file in `gen.commands`, which is imported when the command runs or shows its help.
"""

from __future__ import annotations

import os
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from gen import __version__
from gen.commands import COMMANDS, COMPLETION
from gen.commands.environment import help_line

INTERRUPTED: Final = 130
"""Exit code of typer for an interrupt."""


class Commands(TyperGroup):
    """The group of the commands in the registry. Each is made when it is needed."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in COMMANDS:
            return LazyCommand(cmd_name, short_help=COMMANDS[cmd_name])
        if not ctx.resilient_parsing and not cmd_name.startswith("-"):
            from gen.base import UsageError
            from gen.cli.command import meant, suggestion

            hint = meant(cmd_name) or suggestion(cmd_name, COMMANDS) or "; `gen --help` lists the commands"
            raise UsageError(f"unknown command `{cmd_name}`{hint}")
        return None

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Name the documentation."""
        self.epilog = help_line("`gen explain` describes findings and the fields of jobs and overlays.")
        super().format_epilog(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:  # typer would drop its message
            raise InterruptedRunError from interrupt


class InterruptedRunError(Exception):
    """A run was interrupted: the cause is the KeyboardInterrupt."""


class LazyCommand(TyperCommand):
    """The name and the summary of a command. Its module is imported when it runs or shows its help."""

    def make_context(self, info_name: str | None, *args: object, **kwargs: object) -> Any:
        from gen.cli.command import make_command

        return make_command(str(self.name)).make_context(info_name, *args, **kwargs)


def command_line() -> typer.Typer:
    """The commands of the registry."""
    return typer.Typer(
        name="gen",
        cls=Commands,
        help="Declarative GitOps generator for distributed training on Kubernetes.",
        invoke_without_command=True,
        callback=_options,
        # with its options, typer answers shells; they would install its own scripts instead of `gen completion`
        add_completion=COMPLETION in os.environ,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # boxes cut long names of options off, and take as long as everything else
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _options(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"gen {__version__}")
        raise typer.Exit


app = command_line()


def run() -> int:
    """Run a command, and return the exit code. UsageError of gen for a mistake of the command line."""
    try:
        code: int | None = typer.main.get_command(app)(prog_name="gen", standalone_mode=False)
    except typer.TyperException as error:
        from gen.cli.command import usage_error

        raise usage_error(error) from None
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return code or 0
