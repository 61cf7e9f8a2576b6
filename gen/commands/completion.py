"""`gen completion`: a script for the completion of commands, options and names of the repository in a shell.

The scripts ask gen by the protocol of typer. Its own script for bash does not complete values behind `=`.
"""

from __future__ import annotations

from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final, get_args, get_type_hints

import typer
from msgspec import Struct
from typer.models import OptionInfo

from gen.commands import COMMANDS, COMPLETION
from gen.commands.common import Result


class Shell(StrEnum):
    BASH = "bash"
    """Version 4 and later."""
    ZSH = "zsh"
    FISH = "fish"


FORMATS = None
"""The output is text."""


class Request(Struct, frozen=True, kw_only=True):
    shell: Annotated[Shell, typer.Argument(help="Shell that reads the script.", metavar="bash|zsh|fish")]


def run(request: Request) -> Result[str]:
    """The script, for a file that the shell reads when it starts."""
    folder = Path(__file__).parents[1] / "templates/completion"
    script = (folder / f"gen.{request.shell}").read_text("utf-8").replace("@VARIABLE@", COMPLETION)
    return Result(output=script.replace("@VALUES@", " ".join(sorted(_options_with_values()))))


_FILES: Final = frozenset({"FILE", "DIR", "PATH"})


def _options_with_values() -> set[str]:
    """The options of all commands that take a value which is not a file."""
    values: set[str] = set()
    files: set[str] = set()
    for command in COMMANDS:
        hints = get_type_hints(import_module(f"gen.commands.{command}").Request, include_extras=True)
        for hint in hints.values():
            kind, *metadata = get_args(hint)
            for option in (one for one in metadata if isinstance(one, OptionInfo) and kind is not bool):
                is_file = option.metavar in _FILES or Path in (kind, *get_args(kind))
                names = (option.default, *(option.param_decls or ()))  # typer's default is the first name
                (files if is_file else values).update(str(name) for name in names if str(name).startswith("-"))
    return values - files
