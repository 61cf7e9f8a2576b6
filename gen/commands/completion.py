"""`gen completion`: a script for the completion of commands, options and names of the repository in a shell.

The scripts ask gen by the protocol of typer. Its own script for bash does not complete values behind `=`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

import typer

from gen.commands import COMPLETION
from gen.commands.common import Result


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


SCRIPTS: Final = {
    Shell.BASH: """\
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
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=.] ]] && compopt -o nospace 2>/dev/null
    return 0
}

complete -o default -F _gen_completion gen
""",
    Shell.ZSH: """\
#compdef gen

_gen_completion() {
    eval "$(env _TYPER_COMPLETE_ARGS="${words[1,$CURRENT]}" @VARIABLE@=complete_zsh gen 2>/dev/null)"
}

compdef _gen_completion gen
""",
    Shell.FISH: """\
function __gen_completion
    env @VARIABLE@=complete_fish _TYPER_COMPLETE_FISH_ACTION=$argv[1] _TYPER_COMPLETE_ARGS=(commandline -cp) \\
        gen 2>/dev/null
end

complete --command gen --no-files --condition "__gen_completion is-args" --arguments "(__gen_completion get-args)"
""",
}
"""For bash 4 and later, zsh and fish."""


FORMATS = None
"""The output is text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    shell: Annotated[Shell, typer.Argument(help="Shell that reads the script.", metavar="bash|zsh|fish")]


def run(request: Request) -> Result[str]:
    """The script, for a file that the shell reads when it starts."""
    return Result(output=SCRIPTS[request.shell].replace("@VARIABLE@", COMPLETION))
