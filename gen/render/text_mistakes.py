"""Mistakes in the texts of a job file that YAML accepts and that no type excludes: parts that are cut off or joined.

Syntax of a shell in texts that no shell reads: the entries of a command list, and environment variables.

Kubernetes replaces `$(NAME)` in both, and nothing else ("Define Dependent Environment Variables" of its documentation).

Parameters of a job file that no expression uses.

They are warnings, not errors: an expression in the defaults of another overlay may use them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from gen.base import Findings, Location, Route, as_mapping, at, regex
from gen.base.codes.files import LOOKALIKE
from gen.base.codes.jobs import CUT_VALUE, JOINED_LINES, NO_EFFECT, SHELL_SYNTAX
from gen.base.yaml.layers import Layer, Layers
from gen.base.yaml.source import Source
from gen.base.yaml.strict import Data
from gen.base.yaml.yaml_errors import ODD_SPACES, named
from gen.job.kinds.base import Job
from gen.job.model import accepts
from gen.job.scalars import shown

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


_MAX_COMMENTS = 100
"""Comments of a file that are examined."""
_COMMENT = regex(r"[ \t]+(?P<comment>#.*)")
_CONTINUED = regex(r"(?:^|\s)\\[ \t]*\n")
_BUILT_IN = frozenset({"cd", "export", "set", "source", "echo", "mkdir", "pip", "apt-get", "rm", "cp", "git"})
"""First words of lines that are commands of their own."""
_CJK = "\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7af"
_LOOKALIKES = (
    (regex(f"[\u2018\u2019\u201c\u201d](?![{_CJK}])(?<![{_CJK}].)"), "is not a quote for the shell", 'write `"`'),
    (regex(f"(?<=[!-~])[{ODD_SPACES}](?=[!-~])"), "is not a space for the shell", "write a space"),
    (regex("(?<= )[\u2013\u2014](?=[A-Za-z-])"), "does not start an option", "write `-` or `--`"),
)


def report_texts(source: Source, model: type[Job], found: Findings) -> None:
    """Report comments that cut off a part of a value, and commands with lines or characters that mislead."""
    if not isinstance(source.data, dict):
        return
    if " #" in source.text and any(map(_may_cut, source.text.split("\n"))):
        _report_cut(source, model, found)
    for route, holder in _holders(source.data):
        command, variables = holder.get("command"), holder.get("env")
        if isinstance(command, str):
            _report_joined(source, (*route, "command"), command, found)
            _report_lookalikes(source, (*route, "command"), command, found)
        elif isinstance(command, list):
            report_list(source, (*route, "command"), command, found)
        if isinstance(variables, dict):
            report_variables(source, (*route, "env"), variables, found)


def _holders(data: dict[str, Data]) -> Iterator[tuple[Route, dict[str, Data]]]:
    """The fields of the job and of its roles."""
    yield (), data
    for name, role in as_mapping(data.get("roles")).items():
        if isinstance(role, dict):
            yield ("roles", name), role


def _may_cut(line: str) -> bool:
    """Whether a comment follows a value in the line, and may be a part of it."""
    before, mark, comment = line.partition(" #")
    if not mark or not before.strip(" \t#"):
        return False
    return (
        comment[:1] not in ("", " ", "\t", "#", "!", "\r") or before.count("'") % 2 == 1 or before.count('"') % 2 == 1
    )


def _report_cut(source: Source, model: type[Job], found: Findings) -> None:
    plain = ((route, written) for route, written in source.scalars() if not written.style)
    cut = ((route, written) for route, written in plain if _may_cut(f"{written.value}{written.rest}"))
    for route, written in islice(cut, _MAX_COMMENTS):
        match = _COMMENT.match(written.rest)
        if match is not None and accepts(model, route, f"{written.value} {match['comment']}"):
            place = Location(written.end.file, written.end.line, written.end.column + match.start("comment"))
            message = "the text from `#` on is a comment, and not part of the value"
            hint = "put the whole value in quotes, or write a space after `#` if it is a comment"
            found.error(CUT_VALUE, place, message, hint)


def _report_joined(source: Source, route: Route, command: str, found: Findings) -> None:
    """A command of several lines must keep them if the shell needs them."""
    line = command.strip()
    if "\n" in line or line in source.text:
        return
    written = next((written for at, written in source.scalars() if at == route), None)
    if written is None or written.style not in ("", ">") or "\n" not in written.raw.strip():
        return
    hint = f"write `{route[-1]}: |`, and the command in the indented lines below it"
    if _CONTINUED.search(written.raw):
        message = "the lines are joined, and `\\` then escapes a space instead of a line break"
        found.error(JOINED_LINES, written.start, message, hint)
        return
    lines = [line.split() for line in written.raw.removeprefix(">").strip().split("\n") if line.strip()]
    words = [line[0] for line in lines]
    # other programs are commands after one of those, and otherwise arguments, such as `python` of `mpirun`
    commands = _BUILT_IN | _programs() if words[0] in _BUILT_IN else _BUILT_IN
    again = next((word for word in words[1:] if word in commands or (word == words[0] and word[0].isalnum())), "")
    if again and not any(line[-1] in ("&&", "||", ";", "|") or line[-1].endswith(";") for line in lines[:-1]):
        message = f"the lines are joined to one command; {shown(again)} becomes an argument"
        found.error(JOINED_LINES, written.start, message, hint)


def _programs() -> frozenset[str]:
    from gen.job.launchers import LONG_NAMES
    from gen.job.script import SHELLS

    return LONG_NAMES | SHELLS


def _report_lookalikes(source: Source, route: Route, command: str, found: Findings) -> None:
    if command.isascii():
        return
    for pattern, what, remedy in _LOOKALIKES:
        if (match := pattern.search(command)) is not None:
            place = Layers((Layer(source),)).place_of(route, match[0])
            found.warning(LOOKALIKE, place, f"{named(match[0])} {what}", f"{remedy} instead of it")


def warn_unused_params(
    written: Data, data: dict[str, Data], place: Callable[[Route], Location], found: Findings, user: str = "expression"
) -> None:
    """Warn about `params` in the fields of a job or of a step, as they are written.

    `data` has the defaults of the overlay, too, before expressions are replaced. `place` finds a key in the fields.
    """
    params = as_mapping(at(written, "params"))
    used = used_params(data, params) if params else ()
    for name in (name for name in params if name not in used):
        hint = f"use it as `{{{{ params.{name} }}}}`, or remove it"
        found.warning(NO_EFFECT, place(("params", name)), f"no {user} uses the parameter `{name}`", hint)


def used_params(data: Mapping[str, Data], params: Iterable[str]) -> set[str]:
    """Those of the parameters that an expression in a field of the job uses."""
    fields: Data = {name: value for name, value in data.items() if name != "params"}
    text, words = "\n".join(_expressions(fields)), named_params(fields)
    return {name for name in params if name in words or (not name.isidentifier() and name in text)}


def named_params(data: Data) -> set[str]:
    """The parameters that expressions name, which may be undefined."""
    return {match[1] for text in _expressions(data) for match in _PARAM.finditer(text)}


_PARAM: Final = regex(r"\bparams\s*\.\s*(\w+)")
"""A parameter in an expression. Other names than these are invalid, and reported as such."""


def _expressions(data: Data) -> Iterator[str]:
    """Every string with an expression."""
    if isinstance(data, str):
        if "{{" in data:
            yield data
    else:
        for value in data.values() if isinstance(data, dict) else data:
            yield from _expressions(value)
