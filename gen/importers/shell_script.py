"""Commands in a shell script: those of one program, with reports of the parts around them that importers ignore."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gen.base import Findings, Location, regex
from gen.base.codes.imports import UNSUPPORTED_SHELL
from gen.base.shell_script import BACKGROUND, ScriptReader, syntax_tree
from gen.base.shell_words import Word

if TYPE_CHECKING:
    from tree_sitter import Node

_PREFIXES: Final = frozenset({"sudo", "nohup", "time", "exec", "env", "command"})
_PLACEHOLDER: Final = regex(
    r"(?m)^[^#'\"\n]*?(?:\b([A-Za-z_]\w*)=|[=\s])(<[A-Za-z](?:[^<>()'\"|&;\n]*[^\s<>()'\"|&;])?>)(?=[\s:/\\]|$)"
)
_LITERAL_DOLLAR: Final = regex(rb"(?<!\\)\$[^\w\s{(?$!#*@'\"-]")
"""A `$` that is not an expansion, in a part that the grammar cannot read, such as `$=`."""


class Command(Struct, frozen=True):
    """A command with its words; the first is the program."""

    words: tuple[Word, ...]
    place: Location


def commands(text: str, file: str, program: str, found: Findings) -> list[Command]:
    """The commands that run a program, in the order of the script, without the prompt `$` of a terminal."""
    source = re.sub(rf"(?m)^([ \t]*)\$(?=[ \t]+{program}[ \t])", r"\1 ", text).encode("utf-8", "replace")
    top = syntax_tree(source)
    reader = _Reader(source, file, program, found)
    reader.walk(top)
    reader.report_errors(top)
    return reader.commands


def placeholders(text: str) -> Iterator[tuple[int, str, str]]:
    """Unquoted placeholders such as `<TOKEN>`, which a shell reads as redirections: the position of each in the text,
    itself, and the variable that it is assigned to.
    """
    for match in _PLACEHOLDER.finditer(text):
        yield match.start(2), match[2], match[1] or ""


class _Reader(ScriptReader):
    def __init__(self, source: bytes, file: str, program: str, found: Findings) -> None:
        super().__init__(source, file)
        self.program, self.found = program, found
        self.commands: list[Command] = []
        self.cut = False
        """Whether a line that is cut off is reported."""
        self.lines: set[int] = set()
        """Lines of the commands, from 0."""

    def on_assignment(self, node: Node, around: tuple[str, ...]) -> None:
        """The grammar takes a flag with `=` at the start of a line for an assignment."""
        flag = self.text(node).partition(" ")[0]
        if flag.startswith("-") and self.commands and not self.cut:
            self.cut = True
            message = f"`{flag[:60]}` is not a program, and the line before it ends without `\\`"
            self.found.error(UNSUPPORTED_SHELL, self.place(node), message, "end the line before it with `\\`")

    def on_open_value(self, assignment: Node) -> None:
        message = "gen cannot find the end of this value"
        self.found.error(UNSUPPORTED_SHELL, self.place(assignment), message, "quote the value")

    def on_command(
        self, node: Node, called: str, words: list[Node], behind: list[Node | None], around: tuple[str, ...]
    ) -> None:
        if called != self.program and called not in _PREFIXES:
            self._other(node, called, words[1:])
            return
        known = self.expander.words(words, words[0].start_byte)
        starts = [number for number, word in enumerate(known) if word.text.rpartition("/")[2] == self.program]
        if starts and None in behind:
            message = "gen cannot read the escaped space behind the redirection of this command"
            hint = "write redirections behind all arguments"
            self.found.error(UNSUPPORTED_SHELL, self.place(node), message, hint)
        elif starts:
            self._add(node, known[starts[0] :], tuple(one for one in around if one != BACKGROUND))

    def _other(self, node: Node, called: str, arguments: list[Node]) -> None:
        """A command of another program, which may set variables in a file or run a text."""
        if called in ("source", "."):
            self._source(node, arguments)
        elif self.text(node).startswith("-"):
            self.on_assignment(node, ())
        elif re.search(rf"\b{re.escape(self.program)}\s+submit\b", self.text(node)):
            hint = f"write the `{self.program}` command as a line of its own"
            message = f"`{called}` runs a text as a command, which gen does not read"
            self.found.error(UNSUPPORTED_SHELL, self.place(node), message, hint)

    def _source(self, node: Node, arguments: list[Node]) -> None:
        file = self.text(arguments[0]) if arguments else ""
        message = f"gen does not read `{file}`, so the variables that it sets are not known"
        self.found.warning(UNSUPPORTED_SHELL, self.place(node), message, "assign them in the script")

    def _add(self, node: Node, words: list[Word], around: tuple[str, ...]) -> None:
        place = self.place(node)
        whole = node.parent
        if whole is not None and whole.type == "redirected_statement":
            for start, mark, _ in placeholders(self.text(whole)):
                where = self._place_at(whole.start_byte + len(self.text(whole)[:start].encode()))
                message = f"`{mark[:60]}` is a placeholder, which a shell reads as redirections"
                self.found.error(UNSUPPORTED_SHELL, where, message, "replace it with its value")
                return
        for construct in around:
            message = f"the command is in {construct}, which gen ignores: it is imported once"
            self.found.warning(UNSUPPORTED_SHELL, place, message, "check that the job is what you want")
        self.lines.update(range(node.start_point[0], node.end_point[0] + 1))
        self.commands.append(Command(tuple(words), place))

    def report_errors(self, top: Node) -> None:
        """Report the first part that is not valid shell syntax: an error if it may belong to a command."""
        for node in invalid_parts(top):
            near = range(node.start_point[0], node.end_point[0] + 1)
            concerned = self.program in self.text(node) or any(line in near for line in self.lines)
            report = self.found.error if concerned else self.found.warning
            if _LITERAL_DOLLAR.search(self.source[max(node.start_byte - 1, 0) : node.end_byte + 1]):
                hint = "quote the word, or write `\\$`"
                report(UNSUPPORTED_SHELL, self.place(node), "gen cannot read a `$` before this character", hint)
                return
            hint = "correct it, which `bash -n` explains, or quote the word"
            report(UNSUPPORTED_SHELL, self.place(node), "invalid shell syntax", hint)
            return


READERS: Final = frozenset({"read", "readarray", "mapfile"})
_RESERVED: Final = frozenset(b"then else elif fi do done esac in }".split())
CLAUSES: Final = ("elif_clause", "else_clause", "fi")
_NEWLINE: Final = regex(rb"[^\\]\n")


def invalid_parts(top: Node) -> Iterator[Node]:
    """The parts of a script that bash cannot read. The grammar reads some: empty blocks, misplaced words and signs."""
    todo: list[tuple[Node, Node | None]] = [(top, top.parent)]
    while todo:  # `Node.parent` takes as long as the script is
        node, parent = todo.pop()
        around = parent.type if parent is not None else ""
        if node.is_error or node.is_missing or _is_refused(node, around) or _is_cut(node, parent):
            # the grammar misses the bracket of some expansions that are complete
            if not node.is_missing or around == "compound_statement" or node.type != "}":
                yield node
        else:
            todo += ((one, node) for one in reversed(node.children))


def _is_refused(node: Node, around: str) -> bool:
    """Whether the grammar reads a part that bash refuses. `around` is the type of its parent."""
    match node.type:
        case "command_name":
            return node.text in _RESERVED and node.prev_sibling is None
        case "if_statement" | "elif_clause" | "else_clause" | "do_group" | "compound_statement":
            then = next((number for number, one in enumerate(node.children) if one.type == "then"), 0)
            body = [one.type for one in node.children[then:] if one.is_named]
            return not any(one not in CLAUSES and one != "comment" for one in body)
        case "file_redirect" | "herestring_redirect":
            return _NEWLINE.search((node.text or b"")[: node.children[-1].start_byte - node.start_byte]) is not None
        case ";;":
            return around != "case_item"
        case "subshell":
            return around == "command"
    return False


def _is_cut(node: Node, around: Node | None) -> bool:
    """Whether the grammar loses a word behind an assignment, such as `-` in `A= - <<E`."""
    if node.type != "variable_assignment" or around is None or around.type != "redirected_statement":
        return False
    if (behind := node.next_sibling) is None:
        return False
    words = (around.text or b"")[node.end_byte - around.start_byte : behind.start_byte - around.start_byte]
    return bool(words.strip(b"\\ \t\n"))
