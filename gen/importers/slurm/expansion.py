"""Words of a batch script with the values of its variables, as far as they are known without running anything.

A value is a text in which `OPEN` and `CLOSE` enclose what only a pod knows, such as `$RANK`, as shell source.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from fnmatch import translate
from typing import Final

from gen.base import regex

OPEN, CLOSE = "\ue000", "\ue001"
MARKED: Final = regex(f"{OPEN}([^{OPEN}{CLOSE}]*){CLOSE}")
_NAME: Final = regex(r"[A-Za-z_]\w*")
_PARAMETER: Final = regex(
    r"(?P<length>\#(?=[A-Za-z_]))?(?P<indirect>!)?(?P<name>[A-Za-z_]\w*|\d+|[@*\#?$!-])(?:\[(?P<index>[^\]]*)\])?(?P<rest>.*)",
    re.DOTALL,
)
_EVERY: Final = regex(r"\$@|\$\{@\}|\$\{[A-Za-z_]\w*\[@\]\}")
"""All values of an array; without values, it adds no word."""
_PLAIN: Final = regex(r"[\w@%+=:,./{}\[\]~^-]+")
_ITEM: Final = regex(r"\$\{(\w+)\[[^\]\"]*\]\}")
_SAFE: Final = regex(rf"\"?\$\w+\"?|\$\{{\w+\}}|\{{\{{ [\w.]+ \}}\}}|\"?{_ITEM.pattern}\"?")
"""Values without quotes: ranks, addresses, ports, ids, and items of arrays as the script has them."""
_QUOTED: Final = regex(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_OUTPUT: Final = regex(r"\"?\$\(")
_SPECIAL: Final = regex(r'[\\"`$]')
_HOME: Final = regex(r"~(?=/|\s|$)")
_CALCULATED: Final = regex(r"^\$\(\((.*)\)\)$")
_INNER: Final = regex(r"\(*\(([^()]*)\)\)*")
"""An expression in brackets."""
_MOST_CUT: Final = 1000
RUN_ID: Final = "GEN_RUN_ID"
"""Stands for the id of the run in shell source."""
MOST: Final = 100_000
"""Characters of a value; a script can double one on each line."""
COST_OF_WORD: Final = 20
"""Characters that take as long as a word: a list of short words is bounded, too."""

Value = str | tuple[str, ...]


def marked(source: str) -> str:
    """A part that the shell of the pod expands."""
    return f"{OPEN}{source}{CLOSE}"


ADDRESS: Final = marked("$MASTER_ADDR")
PORT: Final = marked("$MASTER_PORT")
RUN: Final = marked("{{ run.id }}")


def is_known(value: str) -> bool:
    return OPEN not in value


def source_text(value: str) -> str:
    """A value as shell source, with a variable for the id of the run."""
    return MARKED.sub(lambda match: f"${RUN_ID}" if match[1].startswith("{{") else match[1], value)


def sources(value: str) -> list[str]:
    """The shell source of all parts that only a pod knows."""
    return MARKED.findall(value)


def shown(word: str) -> str:
    """A word as a person writes it for a shell."""
    plain = MARKED.sub("", word)
    parts = sources(word)
    if not plain and len(parts) == 1 and _OUTPUT.match(parts[0]):
        return parts[0]
    if (not plain or _PLAIN.fullmatch(plain)) and all(_SAFE.fullmatch(part) for part in parts) and word:
        text = _braced(word)
        return text if not text.startswith(("~", "{")) or parts else f"'{text}'"
    if not parts and "'" not in word:
        return f"'{word}'"
    pieces = re.split(f"({OPEN}[^{OPEN}{CLOSE}]*{CLOSE})", word)
    return (
        '"'
        + "".join(one[1:-1].strip('"') if one.startswith(OPEN) else _SPECIAL.sub(r"\\\g<0>", one) for one in pieces)
        + '"'
    )


def _braced(word: str) -> str:
    """Parts as they are, with braces where a letter follows."""

    def one(match: re.Match[str]) -> str:
        follows = word[match.end() : match.end() + 1]
        name = match[1].removeprefix("$")
        return (
            f"${{{name}}}"
            if match[1].startswith("$") and _NAME.fullmatch(name) and re.match(r"\w", follows)
            else match[1]
        )

    return MARKED.sub(one, word)


class Expander:
    """Expands words of bash. A subclass knows the variables and the output of commands."""

    budget = 2_000_000
    """Characters that all expansions together may give."""
    indexed: dict[str, tuple[str, ...]]
    """Arrays whose item only a pod knows, for example that of its task."""
    from_text: set[str]
    """Variables that a `read` of the job sets."""

    def lookup(self, name: str) -> Value | None:
        """The value of a variable; None if it is not set."""
        raise NotImplementedError

    def outside(self, name: str) -> str:
        """Replacement of a variable that the script does not set."""
        raise NotImplementedError

    def output(self, command: str) -> str:
        """Replacement of the output of a command."""
        raise NotImplementedError

    def assign(self, name: str, value: Value) -> None:
        raise NotImplementedError

    def value(self, text: str) -> str:
        """A text as one value, such as that of an assignment."""
        return " ".join(self.words(text, splits=False))

    def words(self, text: str, *, splits: bool = True) -> list[str]:
        """The words that a text expands to."""
        words: list[str] = []
        current: str | None = None
        for piece, ends in self._pieces(text, splits=splits):
            if ends:
                words += [] if current is None else [current]
                current = None
                self.budget -= COST_OF_WORD
            if piece is not None:
                current = (current or "") + piece
                self.budget -= len(piece)
                if len(current) > MOST or self.budget < 0:
                    return [*words, marked("$TOO_LONG")]
        return words if current is None else [*words, current]

    def _pieces(self, text: str, *, splits: bool) -> Iterator[tuple[str | None, bool]]:
        """Pieces of words, and whether a new word begins before each. None ends a word without a piece."""
        at = 0
        while at < len(text):
            char = text[at]
            if text.startswith("\\\n", at):
                at += 2
            elif char == "\\":
                yield text[at + 1 : at + 2], False
                at += 2
            elif char.isspace() and splits:
                yield None, True
                at += 1
            elif char == "'":
                end = text.find("'", at + 1)
                end = len(text) if end < 0 else end
                yield text[at + 1 : end], False
                at = end + 1
            elif char == '"':
                end = closing_quote(text, at)
                inner = text[at + 1 : end]
                if not (_EVERY.fullmatch(inner) and self.expansion(inner) == ()):
                    yield from self._quoted(inner, splits=splits)
                at = end + 1
            elif char in "$`" and (end := expansion_end(text, at)) > at + 1:
                yield from self._split(self.expansion(text[at:end]), splits=splits)
                at = end
            elif _HOME.match(text, at) and (at == 0 or (splits and text[at - 1].isspace())):
                yield from self._split(self.parameter("HOME"), splits=False)
                at += 1
            else:
                yield char, False
                at += 1

    def _split(self, value: Value, *, splits: bool) -> Iterator[tuple[str | None, bool]]:
        """An expansion without quotes."""
        if isinstance(value, tuple):
            yield from self._listed([word for one in value for word in split(one)])
        elif not splits:
            yield value, False
        else:
            pieces = split(value)
            if value[:1].isspace():
                yield None, True
            yield from self._listed(pieces)
            if value[-1:].isspace():
                yield None, True

    @staticmethod
    def _listed(words: list[str]) -> Iterator[tuple[str | None, bool]]:
        for number, word in enumerate(words):
            yield word, number > 0

    def _quoted(self, text: str, *, splits: bool = False) -> Iterator[tuple[str | None, bool]]:
        yield "", False
        at = 0
        while at < len(text):
            char = text[at]
            if char == "\\" and at + 1 < len(text) and text[at + 1] in '\\"`$\n':
                yield ("" if text[at + 1] == "\n" else text[at + 1]), False
                at += 2
            elif char in "$`" and (end := expansion_end(text, at)) > at + 1:
                value = self.expansion(text[at:end])
                if isinstance(value, tuple) and text[at:end].endswith(("[*]}", "$*", "{*}")):
                    yield " ".join(value), False
                elif isinstance(value, tuple):
                    yield from self._listed(list(value))
                else:
                    yield self._whole_item(value, splits=splits), False
                at = end
            else:
                yield char, False
                at += 1

    def _whole_item(self, value: str, *, splits: bool) -> str:
        """A value in quotes, which an item of an array keeps if it has blanks, and the output of a command in words."""
        item = _ITEM.fullmatch(value[1:-1]) if value.startswith(OPEN) else None
        blank = item is not None and any(re.search(r"[\s*?]", one) for one in self.indexed.get(item[1], ()))
        output = splits and value.startswith(f"{OPEN}$(") and len(sources(value)) == 1
        return marked(f'"{value[1:-1]}"') if blank or output or value[2:-1] in self.from_text else value

    def expansion(self, text: str) -> Value:
        """The value of `$NAME`, `${…}`, `$(…)`, `$((…))` or a command in backquotes."""
        if text.startswith("$(("):
            return self.arithmetic(text[3:-2])
        if text.startswith("$("):
            return self.output(text[2:-1])
        if text.startswith("`"):
            return self.output(text[1:-1].replace("\\`", "`").replace("\\$", "$"))
        if text.startswith("$'"):
            return text[2:-1].replace("\\n", "\n").replace("\\t", "\t")
        return self.parameter(text[2:-1] if text.startswith("${") else text[1:])

    def parameter(self, text: str) -> Value:
        match = _PARAMETER.fullmatch(text)
        if match is None:
            return marked(f"${{{text}}}")
        name, index, rest = match["name"], match["index"], match["rest"]
        known = self.lookup(name)
        if known is not None and index not in (None, "@", "*"):
            known = self._item(name, known, index)
        if match["indirect"]:
            is_name = isinstance(known, str) and is_known(known)
            return self.parameter(known) if isinstance(known, str) and is_name else marked(f"${{{text}}}")
        if match["length"]:
            countable = known is not None and all(is_known(one) for one in _all(known))
            return str(len(known)) if known is not None and countable else marked(f"${{{text}}}")
        if rest:
            return self._modified(name, known, rest, text)
        return self._plain(name, known, every=index in ("@", "*") or name in "@*")

    def _plain(self, name: str, known: Value | None, *, every: bool) -> Value:
        if known is None:
            return () if every else self.outside(name)
        return known if every or isinstance(known, str) else (known[0] if known else "")

    def _item(self, name: str, known: Value, index: str) -> str | None:
        number = self.arithmetic(index)
        values = _all(known)
        if not re.fullmatch(r"-?\d{1,6}", number):
            if any(one.startswith("[") or not is_known(one) for one in values):  # with keys, or the output of a command
                return None
            self.indexed[name] = values
            source = self._operands(index)
            found = _INNER.fullmatch(source) or _INNER.fullmatch(source.removeprefix("$"))
            return marked(f"${{{name}[{found[1] if found else source}]}}")
        return values[int(number)] if -len(values) <= int(number) < len(values) else None

    def _modified(self, name: str, known: Value | None, rest: str, text: str) -> Value:
        is_set = known is not None and not (rest.startswith(":") and known in ("", ()))
        match rest.lstrip(":")[:1], rest[:1]:
            case "-", _:
                return known if is_set and known is not None else self.value(rest.lstrip(":")[1:])
            case "=", _:
                if not is_set:
                    self.assign(name, self.value(rest.lstrip(":")[1:]))
                return self.lookup(name) or ""
            case "+", _:
                return self.value(rest.lstrip(":")[1:]) if is_set else ""
            case "?", _:
                return known if known is not None else self.outside(name)
        if not isinstance(known, str) or not is_known(known):
            return marked(f"${{{text}}}") if known is not None else self.outside(name)
        changed = _changed(known, rest, self.value)
        return changed if changed is not None else marked(f"${{{text}}}")

    def arithmetic(self, text: str) -> str:
        """The value of an integer expression."""
        plain = self._operands(text)
        result = integer(plain)
        return str(result) if result is not None else marked(f"$(({plain.strip()}))")

    def _operands(self, text: str) -> str:
        """An integer expression with the values of its variables, as shell source."""
        plain = re.sub(r"\$\{(\w+)\}", r"\1", text).replace("$((", "((")

        def number(match: re.Match[str]) -> str:
            known = self.lookup(match[1])
            known = known if known is not None else self.outside(match[1])
            return str(known) if isinstance(known, str) else "?"

        plain = re.sub(r"\$?\b([A-Za-z_]\w*)", number, plain)
        if "$(" in plain and OPEN not in plain:
            plain = " ".join(self.words(plain))
        return MARKED.sub(lambda match: _CALCULATED.sub(r"(\1)", match[1]), plain)


def _all(value: Value) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def _changed(known: str, rest: str, value: Callable[[str], str]) -> str | None:
    """The result of `${NAME#…}`, `${NAME%…}`, `${NAME/…}` and of a change of case."""
    if rest in ("^^", ",,"):
        return known.upper() if rest == "^^" else known.lower()
    sign = rest[:2] if rest[:2] in ("##", "%%", "//") else rest[:1]
    pattern = value(rest[len(sign) :])
    if sign in ("/", "//"):
        old, _, new = pattern.partition("/")
        return known.replace(old, new, -1 if sign == "//" else 1) if old and not re.search(r"[*?\[]", old) else None
    if sign not in ("#", "##", "%", "%%") or len(known) > _MOST_CUT:
        return None
    compiled = regex(translate(pattern))
    lengths = range(len(known) + 1) if len(sign) == 1 else range(len(known), -1, -1)
    for length in lengths:
        part = known[:length] if sign[0] == "#" else known[len(known) - length :]
        if compiled.match(part):
            return known[length:] if sign[0] == "#" else known[: len(known) - length]
    return known


_OPERATORS: Final[Mapping[type[ast.AST], Callable[[int, int], int]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: lambda a, b: a % b if b else 0,
    ast.FloorDiv: lambda a, b: a // b if b else 0,
    ast.Lt: lambda a, b: int(a < b), ast.Gt: lambda a, b: int(a > b), ast.LtE: lambda a, b: int(a <= b),
    ast.GtE: lambda a, b: int(a >= b), ast.Eq: lambda a, b: int(a == b), ast.NotEq: lambda a, b: int(a != b),
}  # fmt: skip


def integer(text: str) -> int | None:
    """The value of an expression of integers; None for any other. Nothing of it is run."""
    if len(text) > 400 or not re.fullmatch(r"[\d\s()+\-*/%<>=!_]+", text) or "**" in text or not text.strip():  # noqa: PLR2004
        return None
    try:
        plain = re.sub(r"\b0+(?=\d)", "", re.sub(r"(?<=\d)_(?=\d)", "", text)).replace("/", "//").strip()
        return _integer(ast.parse(plain, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _integer(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and abs(node.value) < 1 << 62:
        return node.value
    if isinstance(node, ast.BinOp) and (calculate := _OPERATORS.get(type(node.op))) is not None:
        return calculate(_integer(node.left), _integer(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_integer(node.operand)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OPERATORS:
        return _OPERATORS[type(node.ops[0])](_integer(node.left), _integer(node.comparators[0]))
    raise ValueError


def split(value: str) -> list[str]:
    """The words of an expansion without quotes; a part of the pod stays whole."""
    words = re.findall(rf"(?:{OPEN}[^{CLOSE}]*{CLOSE}|[^\s{OPEN}])+", value)
    return [str(one) for one in words]


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
        end = text.find("`", start + 1)
        return end + 1 if end > 0 else start + 1
    following = text[start + 1 : start + 2]
    if following == "'":
        end = text.find("'", start + 2)
        return end + 1 if end > 0 else start + 1
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
