"""`gen completion`: a script for the completion of commands, options and names of the repository in a shell.

The scripts ask gen by the protocol of typer. Its own script for bash does not complete values behind `=`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final, get_args, get_type_hints

import typer
from typer.models import OptionInfo

from gen.commands import COMMANDS, COMPLETION
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
    # files fit words and options that take them, and no values of fields or of other options
    local before=""
    [[ $number -gt 0 ]] && before="${typed[number - 1]}"
    [[ $current == --*=* ]] && before="${current%%=*}" && current=""
    [[ $current == *=* || " @VALUES@ " == *" $before "* ]] || compopt -o default 2>/dev/null
    return 0
}

complete -F _gen_completion gen
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
    script = SCRIPTS[request.shell].replace("@VARIABLE@", COMPLETION)
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
