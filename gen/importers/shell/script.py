"""Finds the commands of one program in a shell script, with the values of the variables that the script sets.

tree-sitter parses the script; nothing is run. Variables that are assigned in loops, conditions and functions are not
known afterwards.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gen.diagnostics import Location
from gen.findings.imports import UNSUPPORTED_SHELL
from gen.importers.shell.pieces import behind_redirections
from gen.importers.shell.words import Expander, Unknown, Value, Word
from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Findings

_AROUND: Final = {
    "for_statement": "a loop",
    "c_style_for_statement": "a loop",
    "while_statement": "a loop",
    "if_statement": "a condition",
    "case_statement": "a condition",
    "function_definition": "a function",
    "list": "a condition",
    "pipeline": "a pipe",
    "redirected_statement": "a redirection",
    "command_substitution": "a substitution",
    "subshell": "a subshell",
}
"""Constructs around a command that gen does not carry out."""
_UNCERTAIN: Final = frozenset({"a loop", "a condition", "a function", "a subshell", "a pipe", "a substitution"})
"""Constructs after which an assignment may not have happened."""
_PREFIXES: Final = frozenset({"sudo", "nohup", "time", "exec", "env", "command"})
_READERS: Final = frozenset({"read", "mapfile", "readarray", "getopts", "let", "unset", "printf"})
"""Commands that change the variables they name."""
_LITERAL_DOLLAR: Final = regex(rb"(?<!\\)\$[^\w\s{(?$!#*@'\"-]")
"""A `$` that is not an expansion, in a part that the grammar cannot read, such as `$=`."""
_ESCAPED: Final = regex(rb"\\(?:\r?\n|[ \t])")


class Command(Struct, frozen=True):
    """A command with its words; the first is the program."""

    words: tuple[Word, ...]
    place: Location


def commands(text: str, file: str, program: str, found: Findings) -> list[Command]:
    """The commands that run a program, in the order of the script."""
    import tree_sitter_bash  # noqa: PLC0415 - only to import scripts
    from tree_sitter import Language, Parser  # noqa: PLC0415 - as above

    source = text.encode("utf-8", "replace")
    tree = Parser(Language(tree_sitter_bash.language())).parse(source)
    reader = _Reader(source, file, program, found)
    reader.walk(tree.root_node, ())
    reader.report_errors(tree.root_node)
    return reader.commands


class _Reader:
    def __init__(self, source: bytes, file: str, program: str, found: Findings) -> None:
        self.source, self.file, self.program, self.found = source, file, program, found
        self.variables: dict[str, Value] = {}
        self.expander = Expander(source, self.variables, self._place_at)
        self.ends = [found.start() for found in re.finditer(rb"\n", source)]
        """Positions of the ends of lines."""
        self.inside = [found.start() for found in re.finditer(rb"[\x80-\xbf]", source)]
        """Positions of bytes that continue a character."""
        self.behind: dict[int, list[Any]] = {}
        """Arguments behind the redirections of a command, by its end."""
        self.commands: list[Command] = []
        self.lines: set[int] = set()
        """Lines of the commands, from 0."""

    def place(self, node: Any) -> Location:
        return self._place_at(node.start_byte)

    def _place_at(self, position: int) -> Location:
        number = bisect_left(self.ends, position)
        start = self.ends[number - 1] + 1 if number else 0
        inside = bisect_left(self.inside, position) - bisect_left(self.inside, start)
        return Location(self.file, number + 1, position - start - inside + 1)

    def walk(self, top: Any, around: tuple[str, ...]) -> None:
        """Visit a node and those in it, without recursion: scripts can be nested deeply."""
        todo = [(top, around, False)]
        while todo:
            node, around, of_command = todo.pop()  # the parent of a node is found from the top
            construct = _AROUND.get(node.type, "")
            inner = (*around, construct) if construct and construct not in around else around
            if node.type in ("for_statement", "c_style_for_statement"):
                self._unset(node.child_by_field_name("variable"), "a loop sets it")
            body = node.child_by_field_name("body") if node.type == "redirected_statement" else None
            if body is not None:
                self.behind[body.end_byte] = behind_redirections(node, self.source)
            if node.type == "variable_assignment":
                self._check_end(node)
                if not of_command:
                    self._assign(node, inner)
            elif node.type == "command":
                self._command(node, inner)
            todo += [(child, inner, node.type == "command") for child in reversed(node.named_children)]

    def _check_end(self, assignment: Any) -> None:
        """Behind an escaped space, the grammar looks for a value up to the command in the next line."""
        value = assignment.child_by_field_name("value")
        sign = next((child for child in assignment.children if child.type in ("=", "+=")), None)
        if value is None or sign is None:
            return
        if b"\n" in _ESCAPED.sub(b"", self.source[sign.end_byte : value.start_byte]):
            message = "gen cannot find the end of this value"
            self.found.error(UNSUPPORTED_SHELL, self.place(assignment), message, "quote the value")

    def _unset(self, name: Any, reason: str, hint: str = "write the value itself, once for each job") -> None:
        if name is not None:
            self.variables[self._text(name)] = Unknown(reason, hint)

    def _text(self, node: Any) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _assign(self, node: Any, around: tuple[str, ...]) -> None:
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
            old = self.variables.get(self._text(name), "")
            joined = _joined(old, new)
            new = joined if joined is not None else Unknown("it is appended to", "write the value itself")
        self.variables[self._text(name)] = new

    def _command(self, node: Any, around: tuple[str, ...]) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            return
        behind = self.behind.get(node.end_byte, [])
        arguments = [*node.children_by_field_name("argument"), *(one for one in behind if one is not None)]
        self._assigned_before(node, name, around)
        first = name.named_children[0] if name.named_children else name
        words = self.expander.words([first], name.start_byte)
        called = words[0].text.rpartition("/")[2] if words else ""
        if called == self.program or called in _PREFIXES:
            words = self.expander.words([first, *arguments], name.start_byte)
            starts = [number for number, word in enumerate(words) if word.text.rpartition("/")[2] == self.program]
            if starts and None in behind:
                message = "gen cannot read the escaped space behind the redirection of this command"
                self.found.error(
                    UNSUPPORTED_SHELL, self.place(node), message, "write redirections behind all arguments"
                )
            elif starts:
                self._add(node, words[starts[0] :], around)
        else:
            self._other(node, called, arguments)

    def _assigned_before(self, node: Any, name: Any, around: tuple[str, ...]) -> None:
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

    def _other(self, node: Any, called: str, arguments: list[Any]) -> None:
        """A command of another program, which may change variables or run a text."""
        if called in _READERS:
            for argument in arguments:
                self.variables[self._text(argument)] = Unknown(f"`{called}` sets it", "write the value itself")
        elif called in ("source", "."):
            self._source(node, arguments)
        elif re.search(rf"\b{re.escape(self.program)}\s+submit\b", self._text(node)):
            hint = f"write the `{self.program}` command as a line of its own"
            message = f"`{called}` runs a text as a command, which gen does not read"
            self.found.error(UNSUPPORTED_SHELL, self.place(node), message, hint)

    def _source(self, node: Any, arguments: list[Any]) -> None:
        file = self._text(arguments[0]) if arguments else ""
        message = f"gen does not read `{file}`, so the variables that it sets are not known"
        self.found.warning(UNSUPPORTED_SHELL, self.place(node), message, "assign them in the script")

    def _add(self, node: Any, words: list[Word], around: tuple[str, ...]) -> None:
        place = self.place(node)
        for construct in around:
            message = f"the command is in {construct}, which gen ignores: it is imported once"
            self.found.warning(UNSUPPORTED_SHELL, place, message, "check that the job is what you want")
        self.lines.update(range(node.start_point[0], node.end_point[0] + 1))
        self.commands.append(Command(tuple(words), place))

    def report_errors(self, top: Any) -> None:
        """Report the first part that is not valid shell syntax: an error if it may belong to a command."""
        for node in _errors(top):
            near = range(node.start_point[0], node.end_point[0] + 1)
            concerned = self.program in self._text(node) or any(line in near for line in self.lines)
            report = self.found.error if concerned else self.found.warning
            if _LITERAL_DOLLAR.search(self.source[max(node.start_byte - 1, 0) : node.end_byte + 1]):
                hint = "quote the word, or write `\\$`"
                report(UNSUPPORTED_SHELL, self.place(node), "gen cannot read a `$` before this character", hint)
                return
            hint = "correct it, which `bash -n` explains, or quote the word"
            report(UNSUPPORTED_SHELL, self.place(node), "invalid shell syntax", hint)
            return


def _errors(top: Any) -> Iterator[Any]:
    todo = [top]
    while todo:
        node = todo.pop()
        if node.is_error or node.is_missing:
            yield node
        elif node.has_error:
            todo += reversed(node.children)


def _joined(old: Value, new: Value) -> Value | None:
    if isinstance(old, str) and isinstance(new, str):
        return old + new
    if isinstance(old, tuple) and isinstance(new, tuple):
        return old + new
    return None
