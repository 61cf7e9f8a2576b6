"""Text of bash: words, quotes and expansions, parts that the grammar cannot read, and values of integer expressions."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fnmatch import translate
from functools import lru_cache
from itertools import pairwise
from typing import Final, TypeVar

from gen.base import regex
from gen.base.shell_script import nodes_below, syntax_tree

MAX_LEVELS: Final = 200  # of the syntax, such as `a && b && c`; each one takes several calls of Python
_ATOM: Final = r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"|\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`|\$\{[^}]*\}"
"""A part of a word where bash expands no braces."""
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


_JOINED: Final = regex(r"[ \t]*\\?\n\s*")


def cut(text: str, most: int = 60) -> str:
    """A text of a finding on one line, with `…` in the place of a cut end."""
    text = _JOINED.sub(" ", text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


_JUDGED: Final = regex(r"[\w\s()+\-*/%<>&|^~:.]{1,400}")
STEPS: Final = regex(r"(?<![\w)}])(\+\+|--)\s*([A-Za-z_]\w*)|(?<![\w$.])([A-Za-z_]\w*)\s*(\+\+|--)")
ASSIGNS: Final = regex(r"([A-Za-z_]\w*)\s*([-+*/%]?)=(?!=)(.*)", re.DOTALL)
SETS: Final = regex(r"\+\+|--|[^=!<>]=(?!=)|<<=|>>=")
"""A part that sets a variable in another way, which is not followed."""


def set_by(text: str) -> tuple[str, str] | None:
    """The variable that a part of `((…))` sets, and the expression of its value."""
    if (one := STEPS.fullmatch(text)) is not None:
        name, sign = one[2] or one[3], (one[1] or one[4])[0]
        return name, f"{name} {sign} 1"
    one = ASSIGNS.fullmatch(text)
    return None if one is None else (one[1], f"{one[1]} {one[2]} ({one[3]})" if one[2] else one[3])


def is_refused(expression: str) -> bool:
    """Whether bash certainly refuses an integer expression with the values of its variables, such as `2 * :-4`."""
    if not expression.strip() or not _JUDGED.fullmatch(expression) or re.search(r"\+\+|--", expression):
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


PARAMETER: Final = regex(
    r"(?P<length>\#(?=[A-Za-z_]))?(?P<indirect>!)?(?P<name>[A-Za-z_]\w*|\d+|[@*\#?$!-])"
    r"(?:\[(?P<index>(?:[^][]|\[[^][]*\])*)\])?(?P<rest>(?:[-:=+?#%/^,~@*].*)?)",
    re.DOTALL,
)
EVERY: Final = regex(r"\$@|\$\{@(?::[^{}]*)?\}|\$\{[A-Za-z_]\w*\[@\](?::[^{}]*)?\}")
"""All values of an array, or a part of them; without values, it adds no word."""
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", **{one: one for one in "\\'\""}}


def unescaped(text: str) -> str:
    """The text of `$'…'`."""
    return re.sub(r"(?s)\\(.)", lambda one: _ESCAPES.get(one[1], one[0]), text)


AnyValue = TypeVar("AnyValue", str, tuple[str, ...])


def part_of(value: AnyValue, first: int, size: str | None) -> AnyValue:
    """`${NAME:FIRST:SIZE}`, which is empty if a first one from the end is before the start."""
    return value[first if first >= -len(value) else len(value) :][: int(size) if size else None]


_NAME: Final = regex(r"[A-Za-z_]\w*")
_QUOTED: Final = regex(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_ESCAPED: Final = regex(r"'(?:[^'\\]|\\.)*'", re.DOTALL)
_BACKQUOTED: Final = regex(r"`(?:[^`\\]|\\.)*`", re.DOTALL)
HEREDOC: Final = regex(r"<<-?[ \t]*(['\"\\]?)(\w+)[^\n]*\n(?:.*\n)*?[ \t]*\2[ \t]*$", re.MULTILINE)
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
        return balanced(text, start + 1)
    match = _NAME.match(text, start + 1)
    if match is not None:
        return match.end()
    return start + 2 if following and following in "0123456789@*#?$!-" else start + 1


def balanced(text: str, start: int) -> int:
    """The position behind the bracket that closes the one at the start."""
    opening, closing = text[start], {"(": ")", "{": "}"}[text[start]]
    depth, at, escaped = 0, start, -1
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
            escaped = at
        elif char == "'":
            at = max(text.find("'", at + 1), at)
        elif char == '"' and at > start:
            quoted = _QUOTED.match(text, at)
            at = quoted.end() - 1 if quoted is not None else at
        elif char == opening and (char == "(" or (text[at - 1] == "$" and escaped != at - 1)):
            depth += 1
        elif char == closing:
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return len(text)


def without_brackets(text: str) -> str:
    """An expression without brackets around all of it."""
    while text.startswith("(") and text.endswith(")") and balanced(text, 0) == len(text):
        text = text[1:-1].strip()
    return text


_IN_QUOTES: Final = regex(r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"|(?<![^\s;&|(<>])(~)(?=/|[\s;&|)]|$)", re.DOTALL)


def with_home(text: str, home: str) -> str:
    """A text of a shell with a folder in place of `~`, which a shell expands at the start of a word without quotes."""
    return _IN_QUOTES.sub(lambda match: home if match[1] else match[0], text)


def without_heredocs(text: str) -> str:
    """A script with blanks in the place of its here-documents."""
    return HEREDOC.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def without_escaped(text: str) -> str:
    """A script without the variables that its here-documents do not expand."""
    return HEREDOC.sub(lambda match: re.sub(r"(?<!\\)(?:\\\\)*\\\$", "", match[0]), text)


def without_comments(text: str, opens: str, closes: str) -> str:
    """A script with empty comments, in which no quote begins. It has marks around what is not read."""
    inputs = {match.start(): match.end() for match in HEREDOC.finditer(text)}
    made, at = "", 0
    while at < len(text):
        char, end = text[at], inputs.get(at, at + 1)
        if at in inputs:
            pass
        elif char in ("'", opens):
            end = (text.find("'" if char == "'" else closes, at + 1) + 1) or len(text)
        elif char == '"':
            end = closing_quote(text, at) + 1
        elif char in "$`":
            end = expansion_end(text, at)
        elif char == "\\":
            end += 1
        elif char == "#" and (at == 0 or text[at - 1] in " \t\n;&|("):
            end = at + len(text[at:].partition("\n")[0])
        made += "" if char == "#" and end > at + 1 else text[at:end]
        at = max(end, at + 1)
    return made


def with_own_program(construct: str, command: str) -> str:
    """A command, with the text of the variable that starts it if a construct of the shell sets it once."""
    start = re.match(r"\$(?:(\w+)|\{(\w+)\})(?=\s|$)", command)
    values = re.findall(rf"(?<![\w$]){start[1] or start[2]}=(?:\"([^\"\n]*)\"|\S+)", construct) if start else []
    return f"{values[0]}{command[start.end() :]}" if start and len(values) == 1 and values[0] else command


def unclosed(text: str) -> int | None:
    """The line, from 0, of the first quote or bracket of an expansion that is not closed."""
    text = without_heredocs(text)
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


def _divided(one: int, other: int) -> int:
    """Rounded towards zero, as in bash."""
    quotient = abs(one) // abs(other)
    return quotient if (one < 0) is (other < 0) else -quotient


_OPERATORS: Final[Mapping[type[ast.AST], Callable[[int, int], int]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: _divided,
    ast.Mod: lambda a, b: a - b * _divided(a, b),
    ast.Lt: lambda a, b: int(a < b), ast.Gt: lambda a, b: int(a > b), ast.LtE: lambda a, b: int(a <= b),
    ast.GtE: lambda a, b: int(a >= b), ast.Eq: lambda a, b: int(a == b), ast.NotEq: lambda a, b: int(a != b),
}  # fmt: skip
_MOST_EXPONENT: Final = 63
_MOST_INTEGER: Final = 1 << 62  # bash goes on with the smallest one behind the largest


def _choice(text: str) -> tuple[str, str, str] | None:
    """The condition and the two values of `A ? B : C`."""
    depth = open_ones = start = 0
    for at, char in enumerate(text[:400]):
        depth += (char == "(") - (char == ")")
        if depth == 0 and char == "?":
            start, open_ones = start or at, open_ones + 1
        elif depth == 0 and char == ":":
            open_ones -= 1
            if open_ones == 0:
                return text[:start], text[start + 1 : at], text[at + 1 :]
    return None


def integer(text: str) -> int | None:
    """The value of an expression of integers in bash; None for any other. Nothing of it is run."""
    with suppress(ValueError):
        text = re.sub(r"(?<![\w#])(\d{1,2})#(\w{1,60})", lambda part: str(int(part[2], int(part[1]))), text)
    if "?" in text and (choice := _choice(text)) is not None:
        known = integer(choice[0])
        return None if known is None else integer(choice[1] if known else choice[2])
    if not re.fullmatch(r"[\d\s()+\-*/%<>=!]{1,400}", text):
        return None
    try:
        plain = re.sub(r"\b0+(?=\d)", "0o", text).replace("/", "//").strip()  # of base 8, as in bash
        return _integer(ast.parse(plain, mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError):
        return None


def _integer(node: ast.expr) -> int:
    match node:
        case ast.Constant(value=int(value)):
            pass
        case ast.BinOp(left, op, right) | ast.Compare(left, [op], [right]) if type(op) in _OPERATORS:
            value = _OPERATORS[type(op)](_integer(left), _integer(right))
        case ast.BinOp(left, ast.Pow(), right) if 0 <= (exponent := _integer(right)) < _MOST_EXPONENT:
            value = _integer(left) ** exponent
        case ast.UnaryOp(ast.USub(), operand) if not isinstance(operand, ast.BinOp):  # bash negates before it raises
            value = -_integer(operand)
        case _:
            raise ValueError
    if abs(value) >= _MOST_INTEGER:
        raise ValueError
    return value


def raw_parts(text: str) -> list[range]:
    """The positions where a shell expands nothing: in single quotes, and in a text behind `<<'END'`."""
    source = text.encode("utf-8", "replace")
    top = syntax_tree(source, MAX_LEVELS) if "'" in text or "<<" in text else None
    nodes = [*nodes_below(top, "raw_string")] if top is not None else []
    for one in nodes_below(top, "heredoc_redirect") if top is not None else ():
        start, *others = (part for part in one.children if part.type in ("heredoc_start", "heredoc_body"))
        nodes += others if (start.text or b"").startswith((b"'", b'"', b"\\")) else []
    nodes.sort(key=lambda one: one.start_byte)
    ends = ((source[: one.start_byte], source[: one.end_byte]) for one in nodes)
    return [range(*(len(one.decode("utf-8", "replace")) for one in pair)) for pair in ends]


def expanded_part(text: str) -> str:
    """A text of a shell without the parts where it expands nothing."""
    for part in reversed(raw_parts(text)):
        text = text[: part.start] + text[part.stop :]
    return text


_BEFORE_PROGRAM: Final = regex(r"(?m)(?:^|[\"'])[ \t]*\$\{?([A-Za-z_]\w*)\}?[ \t]+\w")


@lru_cache(maxsize=4)
def before_programs(text: str) -> frozenset[str]:
    """The variables in front of programs."""
    return frozenset(_BEFORE_PROGRAM.findall(text))


_SHOWN: Final = regex(
    r"(?m)(?:(?<=[;&\n])|^)[ \t]*(?:echo|printf)\b(?:\"(?:\\.|[^\"\\])*\"|'[^']*'|\\.|[^;&|\n\"'<>])*(?=$|[;&\n]|\|\|)"
)


def without_shown(text: str) -> str:
    """A text of a shell without the commands that only show something."""
    return _SHOWN.sub("", text)


def kind_of(node: str) -> str:
    """A construct as a person calls it, by the name that the grammar gives it."""
    return node.removesuffix("_statement").replace("c_style_for", "for ((").replace("_", " ")
