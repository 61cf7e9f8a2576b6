"""The programs that a command runs, with their words and places, by the syntax of the shell."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gen.base import Location, UsageError, regex
from gen.base.placeholders import PARAMETER, RESULT, TRIAL
from gen.base.shell_script import SEQUENCE, ScriptReader, syntax_tree
from gen.base.shell_words import Unknown, Word

if TYPE_CHECKING:
    from tree_sitter import Node

SHELLS: Final = frozenset({"sh", "bash", "dash", "ash", "zsh"})
LATER: Final = Unknown("its value is known when the run starts", "write the value itself")
_LATER: Final = (PARAMETER, RESULT, TRIAL)


class Assignment(Struct, frozen=True):
    """A variable that the command sets. Its place is that of the name."""

    name: str
    value: Word
    around: tuple[str, ...] = ()
    """Constructs of the shell around it."""


class Program(Struct, frozen=True):
    """A program with its arguments. The first word names it."""

    words: tuple[Word, ...]
    statement: int
    """Number of the statement that it is a part of."""
    around: tuple[str, ...] = ()
    """Constructs of the shell around it."""
    assigned: tuple[Assignment, ...] = ()
    """Variables that are set for it alone."""

    @property
    def place(self) -> Location:
        return self.words[0].place

    @property
    def name(self) -> str:
        """Without its folder; empty if it is unknown."""
        return self.words[0].text.rpartition("/")[2]


class Statement(Struct, frozen=True):
    """A statement of the script itself, such as a line."""

    type: str
    """As the grammar of the shell calls it."""
    background: bool = False


class Script(Struct, frozen=True, dict=True):
    """The programs that a command runs. Places are lines and columns of the command."""

    programs: tuple[Program, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    """Those for the programs behind them."""
    statements: tuple[Statement, ...] = ()
    functions: frozenset[str] = frozenset()
    """Names of functions that it defines."""
    bash: tuple[tuple[str, Location], ...] = ()
    """Syntax that only bash knows, with its places."""
    readable: bool = True
    """Whether all of it is valid syntax; otherwise, nothing else is known."""

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of its programs."""
        return frozenset([program.name for program in self.programs])

    @cached_property
    def of_statements(self) -> Mapping[int, Sequence[Program]]:
        """The programs of each statement that has some, by its number."""
        found: dict[int, list[Program]] = {}
        for program in self.programs:
            found.setdefault(program.statement, []).append(program)
        return found

    @cached_property
    def variables(self) -> tuple[Assignment, ...]:
        """All variables that it sets, also those for one program alone."""
        own = [one for program in self.programs if program.assigned for one in program.assigned]
        return (*self.assignments, *own)


def read_list(words: Sequence[str]) -> Script:
    """A program that runs without a shell; the column of each word is its number."""
    read = tuple(_known(word, Location("", 1, number)) for number, word in enumerate(words, 1))
    return Script((Program(read, 0),), (), (Statement("command"),)) if read else Script()


@lru_cache(maxsize=256)
def read_script(text: str) -> Script:
    """The programs of a text that a shell reads."""
    return _plain(text) or _parsed(text)


def _known(text: str, place: Location) -> Word:
    later = any(mark in text for mark in _LATER)
    return Word("", place, LATER, text) if later else Word(text, place)


_PLAIN: Final = regex(r"(?:[\w./:,@%+=\ufdd0-]++|&&|[ \t]++|\\\n|\n)++", re.ASCII)
"""Words without syntax of a shell, in lines that may go on. An assignment at the start of a command is one, too."""
_CONDITION: Final = "a condition"
_TESTS: Final = frozenset({"test", "command", "which", "type", "hash", "false", "grep", "pgrep", "expr", "diff", "cmp"})
"""Programs that report something by failing."""
_RESERVED: Final = frozenset(
    {"if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "select"}
    | {"function", "time", "coproc", "export", "declare", "local", "readonly", "typeset", "unset", "read", "eval"}
    | {"source", "."}
)
"""First words with a syntax of their own."""


def _plain(text: str) -> Script | None:
    """A script of plain words, as nearly all are; None for others.

    It is read ten times as fast as by the grammar, which would add a tenth to the time of a render.
    """
    if _PLAIN.fullmatch(text) is None:
        return None
    text = text.replace("\t", " ")
    programs: list[Program] = []
    statements: list[Statement] = []
    words: list[Word] = []
    joined: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        goes_on = line.endswith("\\")
        column = 1
        for word in (line[:-1] if goes_on else line).split(" "):
            if word == "&&":
                programs.append(Program(tuple(words), len(statements), joined or (SEQUENCE,)))
                joined = (_CONDITION,) if words and words[0].text in _TESTS else joined or (SEQUENCE,)
                words = []
            elif word:
                if not words and ("=" in word or word in _RESERVED):
                    return None
                words.append(Word(word, Location("", number, column)))
            column += len(word) + 1
        if goes_on:
            continue
        if words or joined:
            programs.append(Program(tuple(words), len(statements), joined))
            statements.append(Statement("list" if joined else "command"))
        words, joined = [], ()
    is_whole = not words and not joined and all(program.words for program in programs)
    return Script(tuple(programs), (), tuple(statements)) if is_whole else None


def _parsed(text: str) -> Script:
    source = text.encode("utf-8", "replace")
    try:
        top = syntax_tree(source)
    except UsageError:
        return Script(readable=False)
    if top.has_error:
        return Script(readable=False)
    reader = _Reader(source, top)
    reader.walk(top)
    return Script(
        tuple(reader.programs),
        tuple(reader.assigned),
        tuple(reader.statements),
        _functions(reader, top),
        tuple(_bash(reader, top)) if _MAY_BE_BASH.search(text) else (),
        reader.is_clear,
    )


def _functions(reader: ScriptReader, top: Node) -> frozenset[str]:
    named = (node.child_by_field_name("name") for node in top.children if node.type == "function_definition")
    return frozenset(reader.text(name) for name in named if name is not None)


_MAY_BE_BASH: Final = regex(r"&>|\[\[|<<<|\(|\b(?:source|pushd|popd|shopt|function)\b")


def _bash(reader: ScriptReader, top: Node) -> Iterator[tuple[str, Location]]:
    todo = [top]
    while todo:
        node = todo.pop()
        todo += reversed(node.children)
        kind = node.type
        if kind in ("&>", "&>>", "[[", "herestring_redirect", "array", "process_substitution", "function"):
            yield _SHOWN.get(kind, kind), reader.place(node)
        elif kind == "command_name" and (name := reader.text(node)) in ("source", "pushd", "popd", "shopt"):
            yield name, reader.place(node)


_SHOWN: Final = {"herestring_redirect": "<<<", "array": "( … )", "process_substitution": "<( … )"}


class _Reader(ScriptReader):
    def __init__(self, source: bytes, top: Node) -> None:
        super().__init__(source, "", environment=True)
        self.programs: list[Program] = []
        self.assigned: list[Assignment] = []
        self.is_clear = True
        self._starts: list[int] = []
        self._lists: dict[int, str] = {}
        """Constructs of lists, by the start that a list shares with those on its left."""
        self.statements: list[Statement] = []
        for number, node in enumerate(top.children):
            if node.is_named and node.type != "comment":
                behind = top.children[number + 1].type if number + 1 < len(top.children) else ""
                self._starts.append(node.start_byte)
                self.statements.append(Statement(node.type, behind == "&"))

    def construct(self, node: Node) -> str:
        if node.type != "list":
            return super().construct(node)
        if node.start_byte not in self._lists:
            self._lists[node.start_byte] = SEQUENCE if self._has_no_test(node) else _CONDITION
        return self._lists[node.start_byte]

    def _has_no_test(self, node: Node) -> bool:
        """Whether each command of a list but the last does something, and none runs because another one fails."""
        while node.type == "list":
            first, *others = node.children
            if any(child.type == "||" for child in others):
                return False
            node = first
            done = first if first.type != "list" else first.children[-1]
            done = done.named_children[0] if done.type == "redirected_statement" else done
            if done.type not in ("command", "declaration_command") or self.text(done.children[0]) in _TESTS:
                return False
        return True

    def on_open_value(self, assignment: Node) -> None:
        self.is_clear = False

    def on_command(
        self, node: Node, called: str, words: list[Node], behind: list[Node | None], around: tuple[str, ...]
    ) -> None:
        read = self.expander.words(words, words[0].start_byte)
        known = tuple(
            _known(word.text, word.place) if any(map(word.text.__contains__, _LATER)) else word for word in read
        )
        if not known or None in behind:
            self.is_clear = self.is_clear and not behind
            return
        before = [child for child in node.named_children if child.type == "variable_assignment"]
        if before and before[-1].end_byte == words[0].start_byte:
            return  # the grammar took the end of a value for a program
        own = tuple(self._assignment(one) for one in before)
        self.programs.append(Program(known, self._statement(node), around, own))

    def on_assignment(self, node: Node, around: tuple[str, ...]) -> None:
        self.assigned.append(self._assignment(node, around))

    def _assignment(self, node: Node, around: tuple[str, ...] = ()) -> Assignment:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        sign = next(child for child in node.children if child.type in ("=", "+="))
        read = self.expander.value(value, sign.end_byte) if sign.type == "=" else Unknown("", "")
        text = read if isinstance(read, str) else ""
        raw = self.text(value) if value is not None else ""
        unknown = None if isinstance(read, str) else LATER
        if any(mark in text for mark in _LATER):
            text, unknown = "", LATER
        return Assignment(
            self.text(name) if name is not None else "", Word(text, self.place(node), unknown, raw), around
        )

    def _statement(self, node: Node) -> int:
        return max(bisect_right(self._starts, node.start_byte) - 1, 0)
