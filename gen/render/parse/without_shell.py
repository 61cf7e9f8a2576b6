"""Syntax of a shell in texts that no shell reads: the entries of a command list, and environment variables.

Kubernetes replaces `$(NAME)` in both, and nothing else ("Define Dependent Environment Variables" of its documentation).
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from gen.findings.jobs import SHELL_SYNTAX
from gen.model.scalars import shown
from gen.regex import regex

if TYPE_CHECKING:
    import re

    from gen.diagnostics import Findings, Route
    from gen.load import Data, Source

_SHELLS: Final = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh", "busybox"})
_OPERATORS: Final = frozenset({"&&", "||", "|", ";", "&", ">", ">>", "<", "2>&1", "2>", "&>"})
_VARIABLE: Final = regex(r"\$(?:(?P<plain>[A-Za-z_]\w*)|\{(?P<name>[A-Za-z_]\w*)(?::?[-?+=][^{}]*)?\})")
_MAX_REPORTED: Final = 10
"""Variables of one mapping; a file can have thousands."""


def report_list(source: Source, route: Route, command: list[Data], found: Findings) -> None:
    """Warn about a program with its arguments in one entry, and about operators and variables of a shell."""
    words = [word for word in command if isinstance(word, str)]
    if not words or any(word.rsplit("/", 1)[-1] in _SHELLS for word in words):
        return
    hint = "write the command as a text, which a shell reads, or each of its words as an entry"
    if " " in words[0].strip() and "{{" not in words[0] and not words[0].startswith("/"):
        first = words[0].split()[0]  # its arguments may be a secret
        message = f"no program is called {shown(f'{first} …')}: a list is executed without a shell"
        found.warning(SHELL_SYNTAX, source.place((*route, 0)), message, hint)
    for index, word in enumerate(command):
        if not isinstance(word, str):
            continue
        match = _VARIABLE.fullmatch(word)
        if match is not None or word in _OPERATORS:
            shell = "write the command as a text, which a shell reads"
            got, hint = (f"${_name(match)}", f"write `$({_name(match)})`") if match is not None else (word, shell)
            message = f"the program gets {shown(got)} as it is: a list is executed without a shell"
            found.warning(SHELL_SYNTAX, source.place((*route, index)), message, hint)
            return


def report_variables(source: Source, route: Route, variables: dict[str, Data], found: Findings) -> None:
    """Warn about values such as `${NAME}`, which Docker Compose replaces."""
    matches = ((name, _VARIABLE.fullmatch(value)) for name, value in variables.items() if isinstance(value, str))
    for name, match in islice(((name, match) for name, match in matches if match is not None), _MAX_REPORTED):
        hint = "write the value, `$(NAME)` for another variable, or `{secret: <secret>, key: <key>}`"
        message = f"no shell replaces {shown(f'${{{_name(match)}}}')}"
        found.warning(SHELL_SYNTAX, source.place((*route, name)), message, hint)


def _name(match: re.Match[str]) -> str:
    """The name of the variable, without its default, which may be a secret."""
    return match["plain"] or match["name"]
