"""Mistakes in the texts of a job file that YAML accepts and that no type excludes: parts that are cut off or joined."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from gen.diagnostics import Location
from gen.findings.files import LOOKALIKE
from gen.findings.jobs import CUT_VALUE, JOINED_LINES
from gen.load import Layer, Layers
from gen.load.slips import ODD_SPACES, named
from gen.model.annotations import accepts
from gen.model.scalars import shown
from gen.regex import regex
from gen.render.parse.without_shell import report_list, report_variables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Findings, Route
    from gen.kinds import Job
    from gen.load import Data, Source

_MAX_COMMENTS = 100
"""Comments of a file that are examined."""
_COMMENT = regex(r"[ \t]+(?P<comment>#.*)")
_CONTINUED = regex(r"(?:^|\s)\\[ \t]*\n")
_BUILT_IN = frozenset({"cd", "export", "set", "source", "echo", "mkdir", "pip", "apt-get", "rm", "cp", "git"})
"""First words of lines that are commands of their own."""
_PROGRAMS = frozenset(
    {"python", "python3", "torchrun", "accelerate", "deepspeed", "mpirun", "horovodrun", "bash", "sh"}
)
"""First words of lines that are commands after one of those, and otherwise arguments, such as `python` of `mpirun`."""
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
    roles = data.get("roles")
    for name, role in roles.items() if isinstance(roles, dict) else ():
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
    commands = _BUILT_IN | _PROGRAMS if words[0] in _BUILT_IN else _BUILT_IN
    again = next((word for word in words[1:] if word in commands or (word == words[0] and word[0].isalnum())), "")
    if again and not any(line[-1] in ("&&", "||", ";", "|") or line[-1].endswith(";") for line in lines[:-1]):
        message = f"the lines are joined to one command; {shown(again)} becomes an argument"
        found.error(JOINED_LINES, written.start, message, hint)


def _report_lookalikes(source: Source, route: Route, command: str, found: Findings) -> None:
    if command.isascii():
        return
    for pattern, what, remedy in _LOOKALIKES:
        if (match := pattern.search(command)) is not None:
            place = Layers((Layer(source),)).place_of(route, match[0])
            found.warning(LOOKALIKE, place, f"{named(match[0])} {what}", f"{remedy} instead of it")
