"""`gen completion`: a script by which a shell completes commands, options and names of the repository."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

import typer
from typer.completion import get_completion_script  # type: ignore[attr-defined] # no release exports it

from gen.commands import COMPLETION
from gen.commands.result import Result

BASH: Final = """\
_gen_completion() {
    # bash splits words at `=` and `:`, too: the line is split at blanks, and the part that bash keeps is cut off
    local line="${COMP_LINE:0:COMP_POINT}" typed reply
    read -ra typed <<< "$line"
    local current="" number=${#typed[@]}
    if [[ $line != *[[:blank:]] ]]; then
        number=$((number - 1))
        current="${typed[number]}"
    fi
    local kept="${current%"${current##*[=:]}"}"
    COMPREPLY=()
    while IFS= read -r reply; do
        [[ $reply ]] && COMPREPLY+=("${reply#"$kept"}")
    done < <(env COMP_WORDS="$line" COMP_CWORD="$number" @VARIABLE@=complete_bash "$1" 2>/dev/null)
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    return 0
}

complete -o default -F _gen_completion gen
"""
"""For bash 4 and later; the script of typer does not complete values behind `=`."""


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
    if request.shell is Shell.BASH:
        return Result(output=BASH.replace("@VARIABLE@", COMPLETION))
    script = get_completion_script(prog_name="gen", complete_var=COMPLETION, shell=request.shell.value)
    return Result(output=f"{script}\n")
