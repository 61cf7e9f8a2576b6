"""Commands of a script by the numbers of their lines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from gen.base import regex
from gen.base.shell_script import assigned_in, nodes_below, syntax_tree
from gen.importers.slurm.programs import VARIABLE

if TYPE_CHECKING:
    from tree_sitter import Node

_CONSTRUCTS: Final = (
    "for_statement",
    "c_style_for_statement",
    "while_statement",
    "if_statement",
    "case_statement",
    "list",
)
_OUTPUT: Final = r"\$\([^()]{0,999}(?:\([^()]{0,999}\)[^()]{0,999}){0,9}\)"
_WHOLE: Final = regex(rf"(?:\\.|{_OUTPUT}|'[^']*'|\"(?:\\.|[^\"\\])*\"|[^\n\\])*", re.DOTALL)


_TEXTS: Final = ("string", "raw_string", "ansi_c_string", "heredoc_body")


def without_indentation(text: str, node: Node) -> str:
    """The text of a construct, whose other lines begin in the column of the first one in the script."""
    blanks = node.start_point[1]
    first, *others = text.split("\n")
    is_text = any(one.start_point[0] != one.end_point[0] for kind in _TEXTS for one in nodes_below(node, kind))
    if is_text or not others or not all(one[:blanks].isspace() for one in others if one.strip()):
        return text
    return "\n".join([first, *(one[blanks:] for one in others)])


@lru_cache(maxsize=256)
def start_of(text: str, line: int) -> int:
    """The first line of a command that backslashes continue."""
    lines = ["", "", *text.split("\n")]
    while line < len(lines) and lines[line].endswith("\\"):
        line -= 1
    return line


@lru_cache(maxsize=256)
def command_at(text: str, line: int) -> str:
    """A command with the lines that backslashes and quotes continue."""
    rest = "\n".join(text.split("\n")[start_of(text, line) - 1 :])
    return match[0] if (match := _WHOLE.match(rest)) is not None else ""


@lru_cache(maxsize=256)
def read_by(text: str, line: int) -> str:
    """A command, and the assignments of all variables that it reads."""
    parts = [command_at(text, line)] if line else []
    seen = set[str]()
    for part in parts:  # which grows
        for name in {*VARIABLE.findall(part)} - seen:
            seen.add(name)
            starts = re.finditer(rf"(?<![\w$-]){name}(?:\[[^]\n]*\])?\+?=", text)
            parts += [whole[0] for one in starts if (whole := _WHOLE.match(text, one.start())) is not None]
            reads = rf"(?ms)\bread\b[^\n]*\b{name}\b[^\n]*<<-?[ '\"]*(\w+).{{0,9999}}?^\s*\1$"
            parts += [one[0] for one in re.finditer(reads, text)]
    return "\n".join(parts)


def is_inside(text: str, line: int, start: int) -> bool:
    """Whether a line is one of the command at `start`, or of a text that this reads."""
    first, own = start_of(text, start), "".join(text.split("\n")[line - 1 : line]).strip()
    return first <= line <= first + command_at(text, start).count("\n") or (own != "" and own in read_by(text, start))


def computes(text: str, line: int, words: Sequence[str]) -> bool:
    """Whether a program gives a value of the script, which is compared where it is used."""
    source = [*text.split("\n"), ""][min(line, text.count("\n") + 1) - 1]
    name = words[0].rpartition("/")[2]
    name = name if name in source else words[-1]  # of a program in a variable
    return re.search(rf"(?:\$\(|`)[^`]*(?<!\w){re.escape(name)}(?!\w)", source) is not None


@lru_cache(maxsize=2)
def _last_lines(text: str) -> Mapping[int, int]:
    """The last lines of the loops, conditions and lists of a text, by their first lines."""
    top, made = syntax_tree(text.encode("utf-8", "replace")), dict[int, int]()
    for node in (one for kind in _CONSTRUCTS for one in nodes_below(top, kind)):
        first, last = node.start_point[0] + 1, node.end_point[0] + 1
        made[first] = max(last, made.get(first, 0))
    return made


def is_set_behind(name: str, text: str, line: int, until: int) -> bool:
    """Whether a text sets a variable behind the construct at a line, up to another line behind it. A function before it
    can run at the end.
    """
    end = _last_lines(text).get(line, line)
    return name in assigned_in("\n".join(text.split("\n")[end : until - 1 if until > end else None]))
