"""`gen completion`: a script by which a shell completes commands, options and names of the repository."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer
from typer.completion import get_completion_script  # type: ignore[attr-defined] # no release exports it

from gen.commands import COMPLETION
from gen.commands.result import Result


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Arguments of `gen completion`."""

    shell: Annotated[Shell, typer.Argument(help="Shell that reads the script.", metavar="bash|zsh|fish")]


def run(request: Request) -> Result[str]:
    """The script, for a file that the shell reads when it starts."""
    script = get_completion_script(prog_name="gen", complete_var=COMPLETION, shell=request.shell.value)
    return Result(output=f"{script}\n")
