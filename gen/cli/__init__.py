"""The command line: arguments in, text and an exit code out.

Every command is made from its file in `gen.commands`, which is imported when the command is run or asked for help.
"""

from __future__ import annotations

import os
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from gen import __version__
from gen.cli.values import OptionalHelp
from gen.commands import COMMANDS, COMPLETION

ARGUMENTS: Final = "gen.arguments"
MISTAKE: Final[Any] = typer.BadParameter.__mro__[1]
"""`click.UsageError`, of click or of the copy in typer."""


class Commands(OptionalHelp, TyperGroup):
    """The commands of the registry, each imported when needed.

    Arguments of click are typed as Any, because some releases of typer bundle their own copy of click.
    """

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command, or answer a shell that asks for completions."""
        if COMPLETION in os.environ:
            from typer.completion import completion_init  # type: ignore[attr-defined] # noqa: PLC0415 - not exported, and rare

            completion_init()
        return super().main(*args, **kwargs)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - click's interface
        return list(COMMANDS)

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().make_context(*args, **kwargs)
        except MISTAKE as error:
            raise _in_words_of_gen(error) from None

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except MISTAKE as error:
            raise _in_words_of_gen(error) from None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Keep the arguments: they can name an output format that only a plugin has."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            from gen.cli.usage import suggestion  # noqa: PLC0415 - as above
            from gen.diagnostics import UsageError  # noqa: PLC0415 - as above

            hint = suggestion(args[0], COMMANDS) or "; `gen --help` lists the commands"
            raise UsageError(f"unknown command `{args[0]}`{hint}")
        ctx.meta[ARGUMENTS] = tuple(args)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        from gen.cli.command import make_command  # noqa: PLC0415 - `gen --help` does not need it

        return make_command(cmd_name, ctx.meta.get(ARGUMENTS, ()))

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as above
        """List the commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Say where to read more."""
        from gen.commands.documentation import help_line  # noqa: PLC0415 - only for help

        self.epilog = help_line("`gen explain` describes findings and the fields of jobs and overlays.")
        super().format_epilog(ctx, formatter)


def _in_words_of_gen(error: Any) -> Exception:
    from gen.cli.usage import in_words_of_gen  # noqa: PLC0415 - `gen --help` does not need it

    return in_words_of_gen(error)


app = typer.Typer(
    name="gen",
    cls=Commands,
    help="Declarative GitOps generator for distributed training on Kubernetes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # boxes cut long names of options off, and take as long as everything else
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
