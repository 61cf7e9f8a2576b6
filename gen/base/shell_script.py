"""Visits the commands of a shell script by its syntax tree, with the values of the variables that the script sets.

tree-sitter parses the script; nothing is run. Variables that are assigned in loops, conditions and functions are not
known afterwards. Expressions of integers have the values that bash gives them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from gen.base.findings import Location, UsageError
from gen.base.lazy import regex
from gen.base.shell_words import Expander, Unknown, Value, behind_redirections

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

BACKGROUND: Final = "the background"
_AROUND: Final = {
    node: construct
    for construct, nodes in (
        ("a loop", "for_statement c_style_for_statement while_statement"),
        ("a condition", "if_statement case_statement list"),
        ("a function", "function_definition"),
        ("a redirection", "redirected_statement"),
        ("a substitution", "command_substitution process_substitution"),
        ("a subshell", "subshell"),
        ("a pipe", " pipeline"),
    )
    for node in nodes.split()
}
"""Constructs around a command."""
SEQUENCE: Final = "a sequence"
"""A list of commands, each of which runs if those before it succeed, such as `cd code && make`."""
_UNCERTAIN: Final = frozenset(
    {"a loop", "a condition", "a function", "a subshell", "a pipe", "a substitution", SEQUENCE}
)
"""Constructs after which an assignment may not have happened."""
_SETTERS: Final = frozenset({"read", "mapfile", "readarray", "getopts", "let", "unset", "printf"})
"""Commands that change the variables they name."""
_LEAVES: Final = frozenset(
    {"word", "number", "raw_string", "string_content", "variable_name", "simple_expansion", "comment", "regex"}
    | {"file_descriptor", "special_variable_name", "ansi_c_string", "heredoc_start", "heredoc_end"}
)
"""Nodes without a command."""
_ESCAPED: Final = regex(rb"\\(?:\r?\n|[ \t])")


_MOST_PIPES: Final = 500
"""The parser needs 9 GB of memory for 100 kB of one pipeline. Real scripts have at most 25 pipes."""


def syntax_tree(source: bytes, most_levels: int = 0) -> Node:
    """The root of the tree of a script, which is not deeper than `most_levels`, unless that is 0.

    UsageError for a script that the parser cannot read in little memory, or that is deeper.
    """
    if source.count(b"|") > _MOST_PIPES:
        raise UsageError(
            f"the script has more than {_MOST_PIPES} pipes (`|`); write a part of it as a script of its own"
        )
    top = _parser().parse(source).root_node
    for _ in range(_MOST_CUTS if b"\n" in source else 0):
        if (lines := _separated(source, top)) == source:
            break
        source, top = lines, _parser().parse(lines).root_node
    if most_levels and _is_deeper(top, most_levels):
        raise UsageError(f"the script is nested in more than {most_levels} levels; write it with fewer")
    return top


_MOST_CUTS: Final = 20
"""The most passes that separate lines: the parser finds some lines only behind others."""


def _separated(source: bytes, top: Node) -> bytes:
    """The script with `;` between lines that the grammar takes for one command, as it does behind `A=1 B=2` and behind
    some pipes. All positions stay.
    """
    changed = bytearray(source)
    for node in nodes_below(top, "command"):
        if node.start_point[0] != node.end_point[0]:
            for one, other in pairwise(part for part in node.children if part.type != "comment"):
                if one.is_named and b"\n" in _ESCAPED.sub(b"", source[one.end_byte : other.start_byte]):
                    changed[one.end_byte] = ord(";")
    return bytes(changed)


def _is_deeper(top: Node, levels: int) -> bool:
    level = [top]
    for _ in range(levels):
        level = [child for node in level for child in node.named_children]
    return bool(level)


@cache
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def nodes_below(top: Node, kind: str) -> Iterator[Node]:
    """All nodes of a type in a tree."""
    left = [*reversed(top.named_children)]
    while left:
        node = left.pop()
        if node.type == kind:
            yield node
        left += reversed(node.named_children)


_ASSIGNED: Final = regex(r"(?m)(?:^|[\s;(])([A-Za-z_]\w*)(?:\[(?:[^][\n]|\[(?:[^][\n]|\[[^][\n]*\])*\])*\])?\+?=")
_OF_NUMBER: Final = regex(r"\(\(.*?\)\)|\blet\s[^\n;&|]+|\w\[[^]\n]*\]")
_COUNTED: Final = regex(
    r"(?:\+\+|--)\s*([A-Za-z_]\w*)|(?<![\w$])([A-Za-z_]\w*)\s*(?:\+\+|--)|(?<![\w$])([A-Za-z_]\w*)\s+[-+*/%]?=(?!=)"
)
_OF_PROGRAM: Final = regex(r"\$\((?!\()[^()]*\)|`[^`]*`")
_LOOPED: Final = regex(r"\b(?:(?:for|select)\s+(?:\(\(\s*)?|printf\s+-v\s*)([A-Za-z_]\w*)\b")
_MAY_BE_ARGUMENT: Final = regex(r"\S[ \t]+[A-Za-z_]\w*=")
_OF_SHELL: Final = frozenset({b"let", b"eval", b"trap"})
_READ: Final = regex(r"\b(?:read|mapfile|readarray)\b(?:\s+-\w+)*((?:[ \t]+[A-Za-z_]\w*)+)")


def assigned_in(text: str) -> list[str]:
    """The variables that a construct of the shell sets."""
    arguments = _arguments(text)
    assigned = [match[1] for match in _ASSIGNED.finditer(text) if match.start(1) not in arguments]
    numbers = (_OF_PROGRAM.sub("", part[0]) for part in _OF_NUMBER.finditer(text))
    counted = (found for part in numbers for found in _COUNTED.findall(part))
    assigned += [name for found in counted for name in found if name]
    return [*assigned, *(name for one in (_LOOPED, _READ) for found in one.findall(text) for name in found.split())]


def _arguments(text: str) -> set[int]:
    """The positions of the words that programs get."""
    if not _MAY_BE_ARGUMENT.search(text):
        return set()
    source = text.encode("utf-8", "replace")
    commands = nodes_below(syntax_tree(source), "command")
    programs = (one for one in commands if (one.child_by_field_name("name") or one).text not in _OF_SHELL)
    words = (word for one in programs for word in one.children_by_field_name("argument"))
    return {len(source[: one.start_byte].decode("utf-8", "replace")) for one in words}


class ScriptReader:
    """Visits the commands of a script in their order. A reader extends `on_command`."""

    def __init__(self, source: bytes, file: str, *, environment: bool = False) -> None:
        """`environment` is whether variables that the script does not set may have a value nevertheless."""
        self.source, self.file = source, file
        self.variables: dict[str, Value] = {}
        self._place_at = _places(source, file)
        self.expander = Expander(source, self.variables, self._place_at, environment=environment)
        self._behind: dict[int, list[Node | None]] = {}
        """Arguments behind the redirections of a command, by its end."""

    def on_command(
        self, node: Node, called: str, words: list[Node], behind: list[Node | None], around: tuple[str, ...]
    ) -> None:
        """A command: the name of its program if that is known, its words, and those behind its redirections."""
        raise NotImplementedError

    def on_assignment(self, node: Node, around: tuple[str, ...]) -> None:
        """An assignment that is not for one command only."""

    def on_open_value(self, assignment: Node) -> None:
        """An assignment to a value without a certain end."""

    def construct(self, node: Node) -> str:
        """The construct that a node is for the commands in it; empty for none."""
        return _AROUND.get(node.type, "")

    def place(self, node: Node) -> Location:
        return self._place_at(node.start_byte)

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def walk(self, top: Node) -> None:
        """Visit a node and those in it, without recursion: scripts can be nested deeply."""
        todo: list[tuple[Node, tuple[str, ...], bool]] = [(top, (), False)]
        while todo:
            node, around, of_command = todo.pop()  # the parent of a node is found from the top
            inner = _with(around, self.construct(node))
            if node.type in ("for_statement", "c_style_for_statement"):
                self._unset(node.child_by_field_name("variable"), "a loop sets it")
            body = node.child_by_field_name("body") if node.type == "redirected_statement" else None
            if body is not None:
                self._behind[body.end_byte] = behind_redirections(node, self.source)
            if node.type == "variable_assignment":
                self._check_end(node)
                if not of_command:
                    self._assign(node, inner)
                    self.on_assignment(node, inner)
            elif node.type == "command":
                self._visit(node, inner)
            children = node.children
            for number in range(len(children) - 1, -1, -1):
                child = children[number]
                if child.is_named and child.type not in _LEAVES:
                    behind = number + 1 < len(children) and children[number + 1].type == "&"
                    todo.append((child, _with(inner, BACKGROUND) if behind else inner, node.type == "command"))

    def _visit(self, node: Node, around: tuple[str, ...]) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            return
        behind = self._behind.get(node.end_byte, [])
        arguments = [*node.children_by_field_name("argument"), *(one for one in behind if one is not None)]
        self._assigned_before(node, name, around)
        first = name.named_children[0] if name.named_children else name
        words = self.expander.words([first], name.start_byte)
        called = words[0].text.rpartition("/")[2] if words else ""
        self.on_command(node, called, [first, *arguments], behind, around)
        if called in _SETTERS:
            for argument in arguments:
                self.variables[self.text(argument)] = Unknown(f"`{called}` sets it", "write the value itself")

    def _check_end(self, assignment: Node) -> None:
        """Behind an escaped space, the grammar looks for a value up to the command in the next line."""
        value = assignment.child_by_field_name("value")
        sign = next((child for child in assignment.children if child.type in ("=", "+=")), None)
        if value is None or sign is None:
            return
        if b"\n" in _ESCAPED.sub(b"", self.source[sign.end_byte : value.start_byte]):
            self.on_open_value(assignment)

    def _unset(self, name: Node | None, reason: str, hint: str = "write the value itself, once for each job") -> None:
        if name is not None:
            self.variables[self.text(name)] = Unknown(reason, hint)

    def _assign(self, node: Node, around: tuple[str, ...]) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return
        if name.type != "variable_name":
            self._unset(name.child_by_field_name("name"), "an index sets a part of it")
            return
        if uncertain := next((one for one in around if one in _UNCERTAIN), ""):
            self._unset(name, f"{uncertain} sets it")
            return
        sign = next(child for child in node.children if child.type in ("=", "+="))
        new = self.expander.value(value, sign.end_byte)
        if sign.type == "+=":
            old = self.variables.get(self.text(name), "")
            joined = _joined(old, new)
            new = joined if joined is not None else Unknown("it is appended to", "write the value itself")
        self.variables[self.text(name)] = new

    def _assigned_before(self, node: Node, name: Node, around: tuple[str, ...]) -> None:
        """Assignments in the line before: the grammar joins a line of several with the next one.

        Without a space, it took the end of a value for the command.
        """
        assigned = [child for child in node.named_children if child.type == "variable_assignment"]
        between = _ESCAPED.sub(b"", self.source[assigned[-1].end_byte : name.start_byte]) if assigned else b""
        if b"\n" in between:
            for one in assigned:
                self._assign(one, around)
        elif assigned and not between:
            self._unset(assigned[-1].child_by_field_name("name"), "gen cannot read its value", "quote the value")


def _places(source: bytes, file: str) -> Callable[[int], Location]:
    """The locations of positions in a source. They do not hold the reader, which holds them."""
    ends = [match.start() for match in re.finditer(rb"\n", source)]
    inside = [match.start() for match in re.finditer(rb"[\x80-\xbf]", source)]  # bytes that continue a character

    def place_at(position: int) -> Location:
        number = bisect_left(ends, position)
        start = ends[number - 1] + 1 if number else 0
        continued = bisect_left(inside, position) - bisect_left(inside, start)
        return Location(file, number + 1, position - start - continued + 1)

    return place_at


def _with(around: tuple[str, ...], construct: str) -> tuple[str, ...]:
    return (*around, construct) if construct and construct not in around else around


def _joined(old: Value, new: Value) -> Value | None:
    if isinstance(old, str) and isinstance(new, str):
        return old + new
    if isinstance(old, tuple) and isinstance(new, tuple):
        return old + new
    return None
