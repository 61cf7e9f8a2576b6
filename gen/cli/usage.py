"""Mistakes of the command line in the words of gen, with the names that were probably meant.

Exceptions of click are typed as Any, because some releases of typer bundle their own copy of click.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gen.diagnostics import UsageError, did_you_mean, near
from gen.regex import regex
from gen.report.sanitize import sanitize

if TYPE_CHECKING:
    from collections.abc import Iterable

_HELP: Final = "NoArgsIsHelpError"
"""Shows help instead of a message."""
_QUOTED: Final = regex(r"'([^']*)'")
_NOT_ONE_OF: Final = regex(r"'(.*)' is not one of (.*)")
_WORDS: Final = (
    (regex(r"^Value error, |, unable to parse .*$|\.$"), ""),
    (regex(r"^Input should be (?=a|greater|less)"), "expected "),
    (regex("greater than or equal to"), "at least"),
    (regex("less than or equal to"), "at most"),
    (regex("a valid integer"), "an integer"),
    (regex("a valid number"), "a number"),
)
"""Words of releases of typer that check values with pydantic, and those of gen."""


def in_words_of_gen(error: Any) -> Exception:
    """The UsageError of gen instead of that of click."""
    return error if type(error).__name__ == _HELP else UsageError(sanitize(_message(error)))


def suggestion(word: str, names: Iterable[str]) -> str:
    """`: did you mean …?`, or an empty string."""
    guess = near(word, names)
    return f": did you mean `{guess}`?" if guess else ""


def _message(error: Any) -> str:
    problem = _problem(error)
    if problem.endswith("?"):
        return problem
    help_of = error.ctx.command_path if error.ctx is not None else "gen"
    return f"{problem}; `{help_of} --help` lists the arguments"


def _problem(error: Any) -> str:
    plain = error.message or ""
    for words, ours in _WORDS:
        plain = words.sub(ours, plain)
    text = _QUOTED.sub(r"`\1`", plain)
    if hasattr(error, "possibilities"):
        options = [name for one in error.ctx.command.params for name in one.opts] if error.ctx is not None else ()
        return f"unknown option `{error.option_name}`{suggestion(error.option_name, options)}"
    parameter = getattr(error, "param", None)
    if parameter is None:
        return text[:1].lower() + text[1:]
    name = _name(parameter)
    if type(error).__name__ == "MissingParameter":
        return f"missing {'argument' if parameter.param_type_name == 'argument' else 'option'} `{name}`"
    if found := _NOT_ONE_OF.match(plain):
        choices = _QUOTED.findall(found[2])
        return f"invalid value for `{name}`: `{found[1]}`; {did_you_mean(found[1], choices)}"
    return f"invalid value for `{name}`: {text}{_given(error.__cause__)}"


def _given(cause: Any) -> str:
    """The value that pydantic refused."""
    return f", got `{cause.errors()[0]['input']}`" if hasattr(cause, "errors") else ""


def _name(parameter: Any) -> str:
    """`--parallel`, or the word for an argument in help."""
    argument = parameter.param_type_name == "argument"
    name: str = (parameter.metavar or parameter.name.upper()) if argument else max(parameter.opts, key=len)
    return name
