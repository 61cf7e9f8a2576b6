"""Commands in a shell script: those of one program, with reports of the parts around them that importers ignore. Ends
of words and values of integer expressions, for importers that follow a script.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import translate
from itertools import pairwise
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


_ATOM: Final = r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"|\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`|\$\{[^}]*\}"
"""A part of a word in which bash expands no braces."""
_ATOMS: Final = regex(rf"{_ATOM}|[^\s;&|<>()]", re.DOTALL)
_WORD: Final = regex(rf"(?:{_ATOM}|[^\s;&|<>()])+", re.DOTALL)
_RANGE: Final = regex(r"(-?\d{1,4})\.\.(-?\d{1,4})(?:\.\.-?(\d{1,4}))?|([A-Za-z])\.\.([A-Za-z])")
_MOST_ITEMS: Final = 64


def with_braces(text: str) -> str:
    """A command with the words of `{a,b}` and `{1..3}`, which only bash expands."""

    def several(match: re.Match[str]) -> str:
        words = _alternatives(_ATOMS.findall(match[0])) if "{" in match[0] else [match[0]]
        return " ".join(words) if len(words) <= _MOST_ITEMS else match[0]

    return _WORD.sub(several, text)


def _alternatives(atoms: Sequence[str]) -> list[str]:
    """The words that a word with braces expands to."""
    for start in (number for number, one in enumerate(atoms) if one == "{"):
        depth, cuts = 0, [start]
        for number in range(start, len(atoms)):
            depth += (atoms[number] == "{") - (atoms[number] == "}")
            cuts += [number] if depth == 0 or (depth == 1 and atoms[number] == ",") else []
            if depth == 0:
                break
        if depth:
            continue
        parts = [atoms[one + 1 : other] for one, other in pairwise(cuts)]
        items = [one for part in parts for one in _alternatives(part)] if parts[1:] else _range("".join(parts[0]))
        if items:
            behind = _alternatives(atoms[cuts[-1] + 1 :])
            return ["".join(atoms[:start]) + one + other for one in items for other in behind][: _MOST_ITEMS + 1]
    return ["".join(atoms)]


def _range(text: str) -> list[str]:
    match = _RANGE.fullmatch(text)
    if match is None:
        return []
    if match[4]:
        first, last, step = ord(match[4]), ord(match[5]), 1
    else:
        first, last, step = int(match[1]), int(match[2]), int(match[3] or 1) or 1
    numbers = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
    width = max(map(len, match.group(1, 2))) if not match[4] and re.search(r"\b0\d", text) else 0
    return [chr(one) if match[4] else f"{one:0{width}d}" for one in numbers[: _MOST_ITEMS + 1]]


_COMMENT: Final = regex(r"(?m)^[ \t]*:?[ \t]*<<-?[ \t]*(['\"]?)(\w+)\1[ \t]*\n(?:.*\n){0,200}?[ \t]*\2[ \t]*$")
"""An input of no program, which people use as a comment."""
_ALONE: Final = regex(r"(?<![\\$])\$(?=\s|$)")
_LATER: Final = regex(r"(?<=[\w./:,@%+}-])\$(?=\w)")
_BASE: Final = regex(r"(?<![\w$])10#(?=[$\w])")


def readable(text: str) -> str:
    """A script with the same lines, without parts that the grammar cannot read: comments as input, and assignments
    before a word such as `else`, which it takes for a command.
    """
    text = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)
    ends = [match.span() for match in _HEREDOC.finditer(text)]

    def ended(match: re.Match[str]) -> str:
        return match[0] if any(start <= match.start() < end for start, end in ends) else f"{match[0]};"

    return _BEFORE_WORD.sub(ended, text)


def for_grammar(text: str) -> str:
    """A text of the same length without bases of numbers, lines like `ENDS` in an input up to `END`, and `$` alone or
    before a later variable of a word: the grammar ends a word in the middle of `$A/$B.log`.
    """

    def without_start(match: re.Match[str]) -> str:
        return re.sub(rf"(?m)^([ \t]*){match[2]}(?=\S)", rf"\g<1>{'_' * len(match[2])}", match[0])

    text = _LATER.sub("_", _ALONE.sub("_", text))
    return _BASE.sub("  +", _HEREDOC.sub(without_start, text))


_BEFORE_WORD: Final = regex(
    r"(?<![\w$])[A-Za-z_]\w*\+?=(?:[^\s;&|#\\\"'()]|\"[^\"\n]*\"|'[^'\n]*')*"
    r"(?=[ \t]*\n\s*(?:(?:elif|else|fi|done|esac)\b|!\s))"
)


def in_double_quotes(text: str, marked: re.Pattern[str]) -> str:
    """A command in which parts in single quotes with marks are in double quotes, so that a shell expands the marks."""

    def one(match: re.Match[str]) -> str:
        if not marked.search(match[1]) or text.count('"', 0, match.start()) % 2:
            return match[0]
        plain = [_SPECIAL.sub(r"\\\g<0>", part) for part in marked.split(match[1])[::2]]
        marks = [found[0] for found in marked.finditer(match[1])]
        return '"' + "".join(part for pair in zip(plain, [*marks, ""], strict=True) for part in pair) + '"'

    return re.sub(r"'([^']*)'", one, text)


_SPECIAL: Final = regex(r'[\\"`$]')
_JUDGED: Final = regex(r"[\w\s()+\-*/%<>&|^~:.]{1,400}")
_STEPS: Final = regex(r"\+\+|--")


def is_refused(expression: str) -> bool:
    """Whether bash certainly refuses an integer expression with the values of its variables, such as `2 * :-4`."""
    if not expression.strip() or not _JUDGED.fullmatch(expression) or _STEPS.search(expression):
        return False
    plain = re.sub(r"&&|\|\|", "+", re.sub(r"\b(?:[A-Za-z_]\w*|0+(?=[0-7]))", "1", expression))
    try:
        ast.parse(plain.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    if re.search(r"[/%]\s*0+(?![\w.])", plain):
        return True
    return bool({*".:"} & {*plain}) or re.search(r"(?<![\w#])(?!0[xX])\d+[A-Za-z_]", expression) is not None


def changed_value(known: str, rest: str, value: Callable[[str], str]) -> str | None:
    """The result of `${NAME#…}`, `${NAME%…}`, `${NAME/…}` and of a change of case."""
    if rest in ("^^", ",,"):
        return known.upper() if rest == "^^" else known.lower()
    sign = rest[:2] if rest[:2] in ("##", "%%", "//") else rest[:1]
    pattern = value(rest[len(sign) :])
    if sign in ("/", "//"):
        parts = [value(one) for one in re.split(r"(?<!\\)/", rest[len(sign) :], maxsplit=1)]
        old, new = parts[0], parts[1] if parts[1:] else ""
        edge = old[:1] if sign == "/" and old[:1] in ("#", "%") else ""
        pattern = {"#": r"\A%s", "%": r"%s\Z"}.get(edge, "%s") % re.escape(old.removeprefix(edge))
        is_text = old and not re.search(r"[*?\[]", old)
        return re.sub(pattern, lambda _: new, known, count=sign == "/") if is_text else None
    if sign not in ("#", "##", "%", "%%") or len(known) > _MOST_CUT:
        return None
    compiled = regex(translate(pattern))
    lengths = range(len(known) + 1) if len(sign) == 1 else range(len(known), -1, -1)
    for length in lengths:
        part = known[:length] if sign[0] == "#" else known[len(known) - length :]
        if compiled.match(part):
            return known[length:] if sign[0] == "#" else known[: len(known) - length]
    return known


_NAME: Final = regex(r"[A-Za-z_]\w*")
_QUOTED: Final = regex(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_ESCAPED: Final = regex(r"'(?:[^'\\]|\\.)*'", re.DOTALL)
_BACKQUOTED: Final = regex(r"`(?:[^`\\]|\\.)*`", re.DOTALL)
_HEREDOC: Final = regex(r"<<-?[ \t]*(['\"\\]?)(\w+)[^\n]*\n(?:.*\n)*?[ \t]*\2[ \t]*$", re.MULTILINE)
_MOST_CUT: Final = 1000


def word_end(text: str, start: int) -> int:
    """The position behind a word of a script."""
    at = start
    while at < len(text) and not (text[at].isspace() or text[at] in ";&|()<>"):
        char = text[at]
        if char == "\\":
            at += 1
        elif char == "'":
            end = text.find("'", at + 1)
            at = end if end > 0 else len(text)
        elif char == '"':
            at = closing_quote(text, at)
        elif char in "$`" and (end := expansion_end(text, at)) > at + 1:
            at = end - 1
        at += 1
    return min(at, len(text))


def closing_quote(text: str, start: int) -> int:
    """The position of the quote that ends a text in double quotes."""
    at = start + 1
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == '"':
            return at
        elif text[at] in "$`" and (end := expansion_end(text, at)) > at + 1:
            at = end - 1
        at += 1
    return len(text)


def expansion_end(text: str, start: int) -> int:
    """The position behind an expansion; the next one if the character is itself."""
    if text[start] == "`":
        quoted = _BACKQUOTED.match(text, start)
        return quoted.end() if quoted is not None else start + 1
    following = text[start + 1 : start + 2]
    if following == "'":
        quoted = _ESCAPED.match(text, start + 1)
        return quoted.end() if quoted is not None else start + 1
    if following in ("(", "{"):
        return _balanced(text, start + 1)
    match = _NAME.match(text, start + 1)
    if match is not None:
        return match.end()
    return start + 2 if following and following in "0123456789@*#?$!-" else start + 1


def _balanced(text: str, start: int) -> int:
    """The position behind the bracket that closes the one at the start."""
    opening, closing = text[start], {"(": ")", "{": "}"}[text[start]]
    depth, at = 0, start
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif char == "'":
            at = max(text.find("'", at + 1), at)
        elif char == '"' and at > start:
            quoted = _QUOTED.match(text, at)
            at = quoted.end() - 1 if quoted is not None else at
        elif char == opening:
            depth += 1
        elif char == closing:
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return len(text)


def unclosed(text: str) -> int | None:
    """The line, from 0, of the first quote or bracket of an expansion that is not closed."""
    text = _HEREDOC.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    at = 0
    while at < len(text):
        char, end = text[at], at + 1
        if char == "\\":
            end += 1
        elif char == "#" and (at == 0 or text[at - 1].isspace()):
            end = (text.find("\n", at) + 1) or len(text)
        elif char == "'":
            end = text.find("'", at + 1) + 1
        elif char == '"':
            end = closing_quote(text, at) + 1
        elif char == "$":
            end = expansion_end(text, at)
            end = 0 if end == len(text) and text[at + 1 : at + 2] in ("(", "{") and text[-1] not in ")}" else end
        if end == 0 or end > len(text):
            return text.count("\n", 0, at)
        at = end
    return None


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
